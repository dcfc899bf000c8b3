"""Where trials are done: on this machine, or wherever else an executor takes them."""
