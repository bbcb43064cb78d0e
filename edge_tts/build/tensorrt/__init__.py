"""TensorRT engines: graphs its parser takes, plans, and the proof that they sound right."""
