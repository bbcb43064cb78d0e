"""Whoever has pycuda has the driver's library: here, the simulated one."""

from simulated_libcuda import Library

from edge_tts.runtime import cuda_library

cuda_library.load_library = Library
