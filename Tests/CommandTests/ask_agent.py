#!/usr/bin/env python3
"""Asks `subledger mcp` the questions of a file, one JSON object a line, and compares the answers.

Usage: ask_agent.py PROGRAM QUESTIONS. A question has a tool, its arguments, and what is expected of
the answer: an object needs the members that are expected, a list as many elements, ["…", x] only a
last element like x, and ["∋", x, y] only some like x and y. Every tenth question is asked again as of what its answer cites.
"""

import json
import subprocess
import sys

IN_FLIGHT = 4


class Agent:
    """A client of the protocol with nothing but pipes."""

    def __init__(self, program):
        self.process = subprocess.Popen(
            [program, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.count = 0

    def send(self, method, params):
        self.count += 1
        self.write({"id": self.count, "method": method, "params": params})
        return self.count

    def write(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        self.process.stdin.flush()

    def read(self):
        return json.loads(self.process.stdout.readline())

    def ask(self, method, params):
        number = self.send(method, params)
        answer = self.read()
        assert answer["id"] == number, answer
        return answer["result"]

    def calls(self, calls):
        """The results of calls, some of which are in progress at the same time."""
        waiting, results = {}, [None] * len(calls)
        for index, call in enumerate(calls):
            if len(waiting) == IN_FLIGHT:
                answer = self.read()
                results[waiting.pop(answer["id"])] = answer["result"]
            waiting[self.send("tools/call", call)] = index
        while waiting:
            answer = self.read()
            results[waiting.pop(answer["id"])] = answer["result"]
        return results


def matches(expected, found):
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(
            matches(value, found.get(name)) for name, value in expected.items())
    if isinstance(expected, list):
        if not isinstance(found, list):
            return False
        if expected[:1] == ["…"]:
            return bool(found) and matches(expected[1], found[-1])
        if expected[:1] == ["∋"]:
            return all(any(matches(x, y) for y in found) for x in expected[1:])
        return len(expected) == len(found) and all(map(matches, expected, found))
    return expected == found and isinstance(expected, bool) == isinstance(found, bool)


def fault(question, result):
    text = result["content"][0]["text"]
    if result["isError"]:
        return text
    document = result["structuredContent"]
    if json.loads(text) != document:
        return "text and structuredContent differ"
    if not document["citation"].get("knownAt"):
        return "no citation"
    if not matches(question["expected"], document):
        return text[:2000]
    return None


def main():
    program, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        questions = [json.loads(line) for line in file]
    agent = Agent(program)
    started = agent.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                       "clientInfo": {"name": "test", "version": "1"}})
    assert started["protocolVersion"] == "2025-06-18", started
    agent.write({"method": "notifications/initialized"})
    tools = {tool["name"]: tool for tool in agent.ask("tools/list", {})["tools"]}
    assert all(tool["annotations"]["readOnlyHint"] for tool in tools.values()), tools
    for question in questions:
        schema = tools[question["tool"]]["inputSchema"]
        assert set(question["arguments"]) <= set(schema["properties"]), question
        assert set(schema["required"]) <= set(question["arguments"]), question

    calls = [{"name": q["tool"], "arguments": q["arguments"]} for q in questions]
    results = agent.calls(calls)
    wrong = [(q, fault(q, r)) for q, r in zip(questions, results) if fault(q, r)]
    again = range(0, len(calls), 10)
    cited = [results[i].get("structuredContent", {}).get("citation", {}) for i in again]
    repeated = agent.calls([
        calls[i] | {"arguments": calls[i]["arguments"] | {"knownAt": citation.get("knownAt", "")}}
        for i, citation in zip(again, cited)])
    for i, result in zip(again, repeated):
        if not questions[i]["tool"].startswith("report") and result != results[i]:
            wrong.append((questions[i], "as of what it cites, the answer differs"))

    agent.process.stdin.close()
    assert agent.process.stdout.read() == "" and agent.process.wait() == 0
    for question, reason in wrong:
        print(json.dumps(question), reason, sep="\n  ")
    print(f"{len(questions)} questions, {len(again)} of them again, {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
