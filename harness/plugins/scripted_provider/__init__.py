"""A stand-in for a model provider, for tests and `testwright dev provider`: no run uses it.

It is an HTTP server on loopback that speaks the vendors' protocols and answers as a scenario says.
"""
