"""The service: what factloom does, over HTTP, for a team that shares a model and a store.

factloom serve --store graph

factloom.serving.server    from options to a running service
factloom.serving.app       the service as an ASGI application, for tests and other servers
factloom.serving.client    a client in Python, which needs nothing but factloom's core
"""
