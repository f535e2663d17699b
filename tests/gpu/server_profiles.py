#!/usr/bin/env python3
"""Times profiles on the GPU as an editor asks for them: from request to answer, in one running server.

usage: server_profiles.py SERVER FILE ROUNDS

Prints a line "server,KERNEL,SECONDS" for each profile of each kernel of FILE, ROUNDS times all of them in turn. The very
first starts the runner.
"""
import json
import pathlib
import re
import subprocess
import sys
import time


class Server:
    def __init__(self, program):
        self.process = subprocess.Popen([program, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.last_id = 0

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            name, value = line.split(b":", 1)
            if name.lower() == b"content-length":
                length = int(value)
        if length == 0:
            sys.exit("the server ended")
        return json.loads(self.process.stdout.read(length))

    def request(self, method, params):
        self.last_id += 1
        self.send({"id": self.last_id, "method": method, "params": params})
        while True:
            message = self.receive()
            if "method" in message and "id" in message:  # the server's own requests: nothing to say
                self.send({"id": message["id"], "result": None})
            elif message.get("id") == self.last_id:
                if "error" in message:
                    sys.exit(f"{method}: {message['error']['message']}")
                return message["result"]


def main():
    program, file, rounds = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), int(sys.argv[3])
    text = file.read_text()
    kernels = [(match.group(1), text.count("\n", 0, match.start()))
               for match in re.finditer(r"^__global__ void (\w+)\(", text, re.MULTILINE)]
    server = Server(program)
    server.request("initialize", {"processId": None, "rootUri": file.parent.as_uri(), "capabilities": {}})
    server.send({"method": "initialized", "params": {}})
    server.send({"method": "textDocument/didOpen", "params": {"textDocument": {
        "uri": file.as_uri(), "languageId": "cuda", "version": 1, "text": text}}})
    for _ in range(rounds):
        for kernel, line in kernels:
            begin = time.monotonic()
            server.request("kernelskill/profile", {"textDocument": {"uri": file.as_uri()}, "on": "gpu",
                                                   "position": {"line": line, "character": 18}})
            print(f"server,{kernel},{time.monotonic() - begin:.3f}", flush=True)
    server.request("shutdown", None)
    server.send({"method": "exit"})
    server.process.wait(30)


if __name__ == "__main__":
    main()
