import sys
from pathlib import Path

import pytest

STAND_IN = Path(__file__).parent / "stand_in"
_MODULES = (
    "tensorrt",
    "pycuda",
    "pycuda.driver",
    "simulated_gpu",
    "simulated_libcuda",
    "edge_tts.runtime.cuda_pycuda",
)


def forget_stand_in():
    for name in _MODULES:
        sys.modules.pop(name, None)


@pytest.fixture(params=["pycuda", "libcuda"])
def gpu(request, monkeypatch):
    """A simulated GPU with TensorRT 8.5, reached through either binding."""
    forget_stand_in()
    monkeypatch.syspath_prepend(str(STAND_IN))
    import simulated_gpu
    import simulated_libcuda

    from edge_tts.runtime import cuda_library

    monkeypatch.setattr(cuda_library, "load_library", simulated_libcuda.Library)
    if request.param == "libcuda":
        monkeypatch.setitem(sys.modules, "pycuda", None)
    yield simulated_gpu.gpu
    monkeypatch.undo()
    forget_stand_in()
