# SPDX-License-Identifier: Apache-2.0
"""What a browser does with a page of the viewer, by Python's standard library. A `view` has `url` and `_server.port`."""

import base64
import http.client
import json
import os
import socket
import struct
from urllib.parse import parse_qs, urlsplit

import numpy as np


def get(view, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", view._server.port)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    return answer, answer.read()


def post(view, path, body, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", view._server.port)
    connection.request("POST", path, json.dumps(body), {"Origin": f"http://127.0.0.1:{view._server.port}", **headers})
    answer = connection.getresponse()
    return answer, json.loads(answer.read())


def secret_of(view):
    given = {word: values[0] for word, values in parse_qs(urlsplit(view.url).query).items()}  # Python's code, the program's token
    answer, body = post(view, "/api/enter", given)
    assert answer.status == 200 and answer.getheader("Set-Cookie") is None
    return body["secret"]


class Client:
    """Just enough of RFC 6455: short masked texts out, whole messages in."""

    def __init__(self, view):
        host = f"127.0.0.1:{view._server.port}"
        self.socket = socket.create_connection(("127.0.0.1", view._server.port))
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET /ws HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n"
                             "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                             f"Sec-WebSocket-Key: {key}\r\n\r\n").encode())
        self.stream = self.socket.makefile("rb")
        assert b"101" in self.stream.readline()
        while self.stream.readline() != b"\r\n":
            pass
        self.send(secret=secret_of(view))

    def send(self, **command):
        text = json.dumps(command).encode()
        mask = os.urandom(4)
        body = bytes(byte ^ mask[i % 4] for i, byte in enumerate(text))
        head = struct.pack(">BB", 0x81, 0x80 | len(text)) if len(text) < 126 else struct.pack(">BBH", 0x81, 0xFE, len(text))
        self.socket.sendall(head + mask + body)

    def receive(self):
        """The next text as data or frame as (kind, command, array, preview)."""
        while True:
            first, length = self.stream.read(2)
            length = {126: lambda: struct.unpack(">H", self.stream.read(2))[0],
                      127: lambda: struct.unpack(">Q", self.stream.read(8))[0]}.get(length, lambda: length)()
            body = self.stream.read(length)
            if first & 0x0F == 1:
                return json.loads(body)
            if first & 0x0F == 2:
                _, _, kind, command, _, _, rows, cols, element = struct.unpack_from("<IHHIIIIIB", body)
                dtype = [np.uint8, np.uint16, np.uint32, np.float32, np.uint64][element]
                return kind, command, np.frombuffer(body[64:], dtype).reshape(rows, cols), bool(body[29] & 1)

    def frame(self, kind, command):
        while True:
            message = self.receive()
            assert not (isinstance(message, dict) and message["type"] == "error"), message
            if isinstance(message, tuple) and message[:2] == (kind, command):
                return message[2]

    def close(self):
        self.stream.close()
        self.socket.close()
