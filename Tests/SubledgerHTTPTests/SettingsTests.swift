import Foundation
import TestSupport
import Testing

/// Settings from flags, the environment and a file.
struct SettingsTests {
    private func run(
        _ arguments: String...,
        environment: [String: String] = [:]
    ) async throws -> Program.Ending {
        try await Program("subledger").run(["serve"] + arguments, environment: environment)
    }

    @Test
    func `a flag overrides a variable, a variable overrides the file, and each source is named`()
        async throws
    {
        let folder = try TestFolder()
        let file = try folder.write(
            "serve.json",
            Data(
                #"{"port": 1, "host": "::1", "drainSeconds": 5, "bundleId": ["a.b"], "follow": true}"#
                    .utf8
            )
        )
        let ending = try await run(
            "--config",
            file,
            "--print-config",
            "--port",
            "3",
            "--sandbox-customer",
            "review",
            "--sandbox-customer",
            "qa",
            "--database-url",
            "postgresql://me:hidden@db/ledger",
            "--root-certificate",
            "root.der",
            environment: [
                "SUBLEDGER_SERVE_PORT": "2", "SUBLEDGER_SERVE_HOST": "0.0.0.0",
                "SUBLEDGER_SERVE_SANDBOX_TO": "2026-03-03",
                "SUBLEDGER_SERVE_APP_APPLE_ID": "1234567890",
                "SUBLEDGER_SERVE_SHARED_SECRET_FILE": "/etc/secret",
            ]
        )
        #expect(ending.code == 0, "\(ending.errors)")
        let rows = ending.output.split(separator: "\n").map { line in
            line.split(separator: #/\s{2,}/#).map { $0.trimmingCharacters(in: .whitespaces) }
        }
        for row in [
            ["port", "3", "--port"], ["host", "0.0.0.0", "SUBLEDGER_SERVE_HOST"],
            ["drainSeconds", "5", "drainSeconds in \(file)"],
            ["bundleId", "a.b", "bundleId in \(file)"], ["follow", "true", "follow in \(file)"],
            ["sandboxCustomer", "review,qa", "--sandbox-customer"],
            ["sandboxTo", "2026-03-03", "SUBLEDGER_SERVE_SANDBOX_TO"],
            ["logLevel", "info", "default"], ["databaseUrl", "********", "--database-url"],
            ["rootCertificate", "root.der", "--root-certificate"],
            ["appAppleId", "1234567890", "SUBLEDGER_SERVE_APP_APPLE_ID"],
            ["sharedSecretFile", "/etc/secret", "SUBLEDGER_SERVE_SHARED_SECRET_FILE"],
            ["assumeEnvironment", "default"],
        ] {
            #expect(rows.contains(row), "\(row): \(ending.output)")
        }
        #expect(!ending.output.contains("hidden"))
    }

    @Test
    func `a wrong setting prevents the start, and the error gives its name and what was expected`()
        async throws
    {
        let folder = try TestFolder()
        for (name, value, expected) in [
            ("PORT", "high", "a number from 0 to 65535"), ("PORT", "70000", "0 to 65535"),
            ("LOG_LEVEL", "loud", "trace, debug"), ("FOLLOW", "perhaps", "true or false"),
            ("DRAIN_SECONDS", "-1", "seconds from 0 to 3600"),
            ("SANDBOX_FROM", "soon", "a time"),
            ("ENVIRONMENT", "Moon", "Production, Sandbox"), ("HOST", "", "an address"),
            ("ASSUME_ENVIRONMENT", "Moon", "Production, Sandbox"),
            ("APP_APPLE_ID", "0", "a number from 1"),
        ] {
            let variable = "SUBLEDGER_SERVE_\(name)"
            let ending = try await run("--print-config", environment: [variable: value])
            #expect(ending.code == 78, "\(name)")
            #expect(ending.errors.contains("\(variable) is "), "\(ending.errors)")
            #expect(ending.errors.contains(expected), "\(ending.errors)")
        }
        let unknown = try await run("--print-config", environment: ["SUBLEDGER_SERVE_PROT": "1"])
        #expect(unknown.code == 78)
        #expect(unknown.errors.contains("SUBLEDGER_SERVE_PROT"), "\(unknown.errors)")
        for (text, expected) in [
            (#"{"prot": 1}"#, "prot in "), ("[1]", "one JSON object"), ("{", "one JSON object"),
            (#"{"port": "8080"}"#, "port in "), (#"{"bundleId": "a"}"#, "bundleId in "),
            // An empty list would mean everybody.
            (#"{"sandboxCustomer": []}"#, "sandboxCustomer in "),
        ] {
            let file = try folder.write("wrong.json", Data(text.utf8))
            let ending = try await run("--print-config", "--config", file)
            #expect(ending.code == 78, "\(text)")
            #expect(ending.errors.contains(expected), "\(ending.errors)")
        }
        #expect(try await run("--print-config", "--config", "/nowhere").code == 66)
        let open = try await run("--print-config", "--sandbox-from", "2026-03-03")
        #expect(open.code == 78)
        #expect(open.errors.contains("at most 31 days apart"), "\(open.errors)")
        let alone = try await run("--print-config", "--tls-key", "key.pem")
        #expect(alone.code == 78)
        #expect(alone.errors.contains("tlsCertificate"), "\(alone.errors)")
    }
}
