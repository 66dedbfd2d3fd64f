"""Unpacks evidence with nothing but the standard library: schema/README.md in Python.

Reads a file of JSON lines with hexadecimal bytes, {"body", "dictionaries": {number: text},
"segments": {key: body}}, and prints the payload of each as hexadecimal, one a line.
"""
import base64
import json
import sys
import zlib


def leb128(data, at):
    number = shift = 0
    while True:
        number |= (data[at] & 0x7f) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return number, at


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")


class Unpacker:
    def __init__(self, body, dictionaries, segments):
        self.dictionaries, self.segments = dictionaries, segments
        count, at = leb128(body, 1)
        self.keys = [bytes(body[at + 16 * n:at + 16 * n + 16]) for n in range(count)]
        size, at = leb128(body, at + 16 * count)
        self.randoms, at = body[at:at + size], at + size
        size, at = leb128(body, at)
        text = body[at:]
        if body[0]:
            text = zlib.decompressobj(wbits=-15, zdict=dictionaries[body[0]]).decompress(text)
        self.frame, self.values = text[:size], iter(text[size:].split(b"\n"))
        self.at = self.segment = 0

    def random(self, count):
        taken, self.randoms = self.randoms[:count], self.randoms[count:]
        return taken

    def header(self):
        body = self.segments[self.keys[self.segment]]
        return Unpacker(body, self.dictionaries, {}).payload()

    def payload(self):
        out = b""
        while self.at < len(self.frame):
            mark = self.frame[self.at:self.at + 1]
            self.at += 1
            if mark == b"|":
                break
            elif mark == b"~":
                out += next(self.values)
            elif mark == b"#":
                digits = self.random(16).hex()
                out += "-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20],
                                 digits[20:]]).encode()
            elif mark == b"^":
                out += self.header() + b"." + base64url(self.payload())
                out += b"." + base64url(self.random(64))
            elif mark == b"<":
                out += base64url(self.payload())
            elif mark == b"&":
                out += base64.b64encode(self.payload())
            elif mark == b"@":
                self.segment, self.at = leb128(self.frame, self.at)
            elif mark == b"`":
                count, self.at = leb128(self.frame, self.at)
                out += self.frame[self.at:self.at + count]
                self.at += count
            else:
                out += mark
        return out


def unhexed(pairs, key=bytes.fromhex):
    return {key(name): bytes.fromhex(value) for name, value in pairs.items()}


if __name__ == "__main__":
    for line in open(sys.argv[1], encoding="utf-8"):
        row = json.loads(line)
        unpacker = Unpacker(bytes.fromhex(row["body"]), unhexed(row["dictionaries"], int),
                            unhexed(row["segments"]))
        print(unpacker.payload().hex())
