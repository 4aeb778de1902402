// SPDX-License-Identifier: Apache-2.0
// A client of another make than the viewer: Python's standard library.
#pragma once

#include <unistd.h>

#include <csignal>
#include <string>

#include "tests/cli/program.h"

namespace sonde::testing {

/// The address that the program prints; empty when it ended without one.
inline std::string address_of(const Program& program) {
  for (;;) {
    const std::string said = program.error_so_far();
    const std::size_t first = said.find("http://");
    if (first != std::string::npos && said.find('\n', first) != std::string::npos)
      return said.substr(first, said.find('\n', first) - first);
    if (kill(program.id(), 0) != 0 || said.find("error:") != std::string::npos) return "";
    usleep(10000);
  }
}

/// What a browser does, by hand: the token for a secret, HTTP, the handshake. `page`, `send(command)` and
/// `texts()` (what comes, frames being put into `frames`) are there for what follows it.
inline const char* const browser = R"python(
import base64, hashlib, http.client, json, os, socket, struct, sys, urllib.parse
url = urllib.parse.urlsplit(sys.argv[1])
http_ = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
origin = 'http://%s:%d' % (url.hostname, url.port)
def get(path, headers={}):
    http_.request('GET', path, headers=headers)
    answer = http_.getresponse()
    return answer.status, answer.read()
status, body = get('/?' + url.query)
print('page', status, b'<html' in body.lower())
http_.request('POST', '/api/enter', json.dumps({'token': urllib.parse.parse_qs(url.query)['token'][0]}), {'Origin': origin})
answer = http_.getresponse()
secret = json.loads(answer.read())['secret']
print('entered', answer.status, answer.getheader('Set-Cookie'))
print('without secret', get('/api/state')[0])
print('with secret', get('/api/state', {'X-Sonde-Secret': secret})[0])
print('healthz', get('/healthz')[0])

key = base64.b64encode(os.urandom(16)).decode()
s = socket.create_connection((url.hostname, url.port), timeout=60)
s.sendall(('GET /ws HTTP/1.1\r\nHost: %s:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nOrigin: http://%s:%d\r\n'
           'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\nSec-WebSocket-Protocol: sonde.view.v1\r\n\r\n'
           % (url.hostname, url.port, url.hostname, url.port, key)).encode())
f = s.makefile('rb')
assert b'101' in f.readline()
headers = {}
while (line := f.readline()) != b'\r\n':
    name, value = line.decode().split(':', 1)
    headers[name.lower()] = value.strip()
wanted = base64.b64encode(hashlib.sha1((key + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').encode()).digest()).decode()
assert headers['sec-websocket-accept'] == wanted
def read():
    first, second = f.read(2)
    size = second & 127
    if size == 126: size, = struct.unpack('>H', f.read(2))
    elif size == 127: size, = struct.unpack('>Q', f.read(8))
    return first & 15, f.read(size)
def send(command):
    data, mask = json.dumps(command).encode(), os.urandom(4)
    head = b'\x81' + (bytes([128 | len(data)]) if len(data) < 126 else b'\xfe' + struct.pack('>H', len(data)))
    s.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))
def texts():
    while True:
        kind, data = read()
        if kind == 1: yield json.loads(data)
        if kind == 2: frames.append(data)
frames = []
send({'secret': secret})
page = next(t for t in texts())
print(page['type'], page['protocol'], page['view'], [p['id'] for p in page['panels']])
)python";

}  // namespace sonde::testing
