"""The sandbox over HTTP: `kolmo sandbox serve`, and the client behind `open_sandbox("http://…")`.

`protocol.py` is what both sides say of jobs and verdicts. `server.py` starts a pool and listens, `app.py` answers requests;
`client.py` is the `Sandbox` on the other side, `connection.py` one of its connections.
"""
