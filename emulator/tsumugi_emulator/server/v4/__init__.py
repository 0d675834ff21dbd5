"""Cloudflare's REST API for queues, served locally. Decides nothing about queues: that is queues/.

``app.build`` makes the ASGI application. Nothing outside this package imports it at start-up.
"""
