import Foundation
import TestSupport
import Testing

/// Commands whose output cannot be written.
@Suite(.enabled { await TestServer.isAvailable })
struct OutputTests {
    @Test func `a full disk behind stdout exits with 70 and the reason, for every command`()
        async throws
    {
        try await withSimulatedLedger { command in
            let stream = try #require(try await command.json([StreamLine].self, "streams").first)
            let id = "\(stream.originalTransactionId) --environment \(stream.environment)"
            for arguments in [
                "feed", "effects", "rebuild --json", "rebuild", "follow --once --json", "tables",
                "verify", "streams", "streams --json", "history \(id)", "periods \(id) --json",
            ] {
                let ending = try await shell("'$P' \(arguments) > /dev/full", command)
                #expect(ending.code == 70, "\(arguments): \(ending.errors)")
                #expect(
                    ending.errors.contains("stdout cannot be written: No space left on device"),
                    "\(arguments): \(ending.errors)"
                )
            }
            let closed = try await shell("'$P' rebuild --json >&-", command)
            #expect(closed.code == 70 && closed.errors.contains("stdout cannot be written"))
            try await command.expect(0, "tables", "check", "--quiet")
        }
    }

    @Test func `a reader that goes away changes neither the work nor its exit code`() async throws {
        try await withSimulatedLedger { command, settings in
            for arguments in [
                "rebuild --json", "tables diff --promote", "streams", "verify", "feed",
                "effects", "effects --follow",
            ] {
                let ending = try await runUnread(arguments, command)
                #expect(ending.code == 0 && !ending.wasKilled, "\(arguments): \(ending.errors)")
                #expect(!ending.errors.contains("cannot be written"), "\(ending.errors)")
            }
            try await command.expect(0, "tables", "check", "--quiet")
            try await settings.meddle(
                "UPDATE ledger.commit SET digest = sha256('x') WHERE commit_no = 1"
            )
            #expect(try await runUnread("verify", command).code == 3)
        }
    }

    @Test func `a stderr that cannot be written changes nothing`() async throws {
        try await withSimulatedLedger { command in
            for place in ["/dev/full", "&-"] {
                let ending = try await shell("'$P' rebuild --json 2>\(place)", command)
                #expect(ending.code == 0 && ending.output.hasPrefix("["), "\(place)")
            }
            let ending = try await shell("'$P' history nobody 2> /dev/full", command)
            #expect(ending.code == 4 && ending.output.isEmpty)
        }
    }

    @Test func `a page that cannot be written exits with 70 and the reason, and nothing is lost`()
        async throws
    {
        try await withSimulatedLedger { command in
            let folder = try TestFolder()
            try await command.expect(0, "rebuild", "--quiet")
            for (path, reason) in [
                (folder.path, "Is a directory"),
                (folder.path(of: "none/page.html"), "No such file or directory"),
                ("/proc/page.html", ""),
            ] {
                let ending = try await command.run("tables", "check", "--quiet", "--html", path)
                #expect(ending.code == 70, "\(path): \(ending.errors)")
                #expect(ending.output.isEmpty, "\(path)")
                #expect(ending.errors.contains("\(path) cannot be written: \(reason)"))
            }
            let page = try folder.write("page.html", Array("old".utf8))
            try await command.expect(0, "tables", "check", "--quiet", "--html", page)
            #expect(try String(contentsOfFile: page, encoding: .utf8).hasSuffix("</html>\n"))
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(files == ["page.html"])
        }
    }

    // With the test's own pipe, never a device: a program that replaced it by a file would remove
    // the device from the whole machine.
    @Test func `a target that is not a regular file is written to, never replaced by one`()
        async throws
    {
        try await withSimulatedLedger { command in
            let folder = try TestFolder()
            let (pipe, copy) = (folder.path(of: "pipe"), folder.path(of: "copy"))
            try await command.expect(0, "rebuild", "--quiet")
            // Opened for both directions, so that no writer waits for a reader that never comes.
            let ending = try await shell(
                "mkfifo '\(pipe)'; exec 3<> '\(pipe)'; cat <&3 > '\(copy)' & "
                    + "'$P' tables check --quiet --html '\(pipe)' 3<&-; code=$?; "
                    + "[ -p '\(pipe)' ] || code=99; kill $!; wait; exit $code",
                command
            )
            #expect(ending.code == 0, "\(ending.errors)")
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(Set(files) == ["pipe", "copy"])
        }
    }

    @Test func `a policy may come from stdin, and names each member once`() async throws {
        try await withSimulatedLedger { command in
            let folder = try TestFolder()
            let policy = try folder.write("policy.json", Array("{\"graceCounts\":false}".utf8))
            let doubled = try folder.write(
                "doubled.json",
                Array("{\"graceCounts\":false,\"graceCounts\":true}".utf8)
            )
            try await command.expect(0, "rebuild", "--quiet")
            let named = try await command.expect(0, "rebuild", "--quiet", "--with", policy)
            let ending = try await command.run(
                ["rebuild", "--quiet", "--with", "-"],
                inputFile: policy
            )
            #expect(ending.code == 0 && ending.output == named, "\(ending.errors)")
            for arguments in [[doubled], ["-"]] {
                let refused = try await command.run(
                    ["rebuild", "--quiet", "--with"] + arguments,
                    inputFile: doubled
                )
                #expect(refused.code == 65 && refused.output.isEmpty, "\(refused.errors)")
                #expect(refused.errors.contains("a member twice"), "\(refused.errors)")
            }
            let missing = try await command.run("rebuild", "--quiet", "--with", folder.path)
            #expect(missing.code == 66, "\(missing.errors)")
        }
    }

    // The reader is gone before the first byte: it opens the pipe, ends, and is waited for.
    private func runUnread(_ arguments: String, _ command: Command) async throws -> Program.Ending {
        let folder = try TestFolder()
        let pipe = folder.path(of: "pipe")
        return try await shell(
            "mkfifo '\(pipe)'; true < '\(pipe)' & exec 3> '\(pipe)'; wait; '$P' \(arguments) >&3",
            command
        )
    }

    private func shell(_ script: String, _ command: Command) async throws -> Program.Ending {
        let path = try Program("subledger").path
        return try await Program(path: "/bin/sh").run(
            ["-c", script.replacing("$P", with: path)],
            environment: command.environment
        )
    }
}
