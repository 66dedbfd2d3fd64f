import Foundation
import SubledgerCommand
import TestSupport
import Testing

/// Help and behaviour agree.
@Suite struct HelpTests {
    @Test func `every command has help on stdout, with its options`() async throws {
        for (help, ending) in try await CommandHelp.endings.value {
            #expect(ending.code == 0 && ending.errors.isEmpty, "\(help.name): \(ending.errors)")
            #expect(ending.output.contains("OVERVIEW:"), "\(help.name)")
            #expect(ending.output.contains("USAGE: subledger"), "\(help.name)")
            for option in help.options where help.isLeaf {
                #expect(ending.output.contains(option), "\(help.name) \(option)")
            }
        }
    }

    @Test func `every option that help lists is accepted`() async throws {
        let leaves = try await CommandHelp.leaves()
        let counts = leaves.flatMap(Self.options).reduce(into: [String: Int]()) {
            $0[$1.name, default: 0] += 1
        }
        for help in leaves {
            // Parsing takes long, so the options that many commands share are parsed together.
            let options = Self.options(help)
            let shared = options.filter { counts[$0.name] ?? 0 >= 5 }
            var together = try Self.words(of: help)
            for option in shared where !together.contains(option.name) {
                together += try Self.words(help, option)
            }
            let isAccepted = CommandRun.refusal(of: together) == nil
            for option in options where !isAccepted || counts[option.name] ?? 0 < 5 {
                var words = try Self.words(of: help, with: option.name)
                if !words.contains(option.name) { words += try Self.words(help, option) }
                #expect(CommandRun.refusal(of: words) == nil, "\(words)")
            }
        }
    }

    private static func options(
        _ help: CommandHelp
    ) -> [(name: String, takesValue: Bool)] {
        help.arguments.filter(\.isDisplayed).flatMap { argument in
            (argument.names ?? []).map { ($0.text, argument.kind == "option") }
        }
        .filter { !["-h", "--help"].contains($0.0) && ($0.0 != "--version" || $0.1) }
    }

    @Test func `every option and command that a help text mentions exists`() async throws {
        let all = try await CommandHelp.all()
        for help in all {
            let texts =
                help.prose
                + help.arguments.flatMap { [$0.abstract, $0.discussion] }
                .compactMap { $0 }
            for text in texts {
                let mentioned = mentions(in: text, of: all)
                #expect(mentioned.unknown.isEmpty, "\(help.name): \(text)")
                let commands = all.filter { command in
                    ([help.path] + mentioned.paths).contains { command.path.starts(with: $0) }
                }
                let known = commands.reduce(into: Set<String>()) { $0.formUnion($1.options) }
                for match in text.matches(of: /--[a-z][a-z-]*/) {
                    #expect(known.contains(String(match.0)), "\(help.name): \(match.0) in: \(text)")
                }
            }
        }
    }

    // `subledger COMMAND` must be a command; any other words in backticks may be one.
    private func mentions(
        in text: String,
        of all: [CommandHelp]
    ) -> (paths: [[String]], unknown: [String]) {
        var (paths, unknown): ([[String]], [String]) = ([], [])
        for match in text.matches(of: /(?:`|\$\()([a-z][a-z -]*)/) {
            var words = match.1.split(separator: " ").map(String.init)
            let isNamed = words.first == "subledger"
            if isNamed { words.removeFirst() }
            let path = words.prefix { $0.first != "-" }
            if let longest = all.map(\.path).filter({ !$0.isEmpty && path.starts(with: $0) })
                .max(by: { $0.count < $1.count })
            {
                paths.append(longest)
            } else if isNamed, !path.isEmpty {
                unknown.append(path.joined(separator: " "))
            }
        }
        return (paths, unknown)
    }

    // The arguments of the table, or those without which the option means nothing.
    private static func words(of help: CommandHelp, with name: String = "") throws -> [String] {
        var words: [String]
        if let instead = instead["\(help.name) \(name)"] {
            words = instead.split(separator: " ").map(String.init)
        } else {
            words = try #require(
                EveryCommand.all.first { $0.words.starts(with: help.path) },
                "\(help.name)"
            ).words
        }
        return words.flatMap { word in
            ["{store}", "{sandbox}"].contains(word)
                ? []
                : EveryCommand.options[word] ?? [word.replacing(/\{.*\}/, with: "1700000000000")]
        }
    }

    // The option, with a value if it takes one.
    private static func words(
        _ help: CommandHelp,
        _ option: (name: String, takesValue: Bool)
    ) throws -> [String] {
        guard option.takesValue else { return [option.name] }
        return [option.name, try #require(value(of: option.name, help.name), "\(option.name)")]
    }

    private static func value(of name: String, _ command: String) -> String? {
        values["\(command) \(name)"] ?? values[name]
    }

    /// A value of each option, for one command if the others mean something else by its name.
    private static let values = [
        "--after": "1", "--against": "checkpoint.json",
        "feed --after": "0:1:" + String(repeating: "0", count: 16),
        "webhooks add --after": "end", "webhooks replay --after": "beginning",
        "webhooks add --format": "subledger", "webhooks add --sign": "hmac",
        "--concurrency": "8", "--effect": "renewed", "--forward": "https://example.com",
        "--keep": "1h", "effects --after": "end", "--consumer": "mailer",
        "--api-url": "https://store.example", "--app-apple-id": "1", "--app-transaction-id": "7",
        "--append-seconds": "60", "--answer-seconds": "15", "--trusted-proxy": "10.0.0.0/8",
        "--audit-days": "30", "--expires-after": "90d", "--requests-per-minute": "600",
        "--assume-environment": "production", "--at": "2026-01-01", "--before": "2026-01-01",
        "evidence move --to": "folder", "customers import --column": "id=memberNo",
        "--body": String(repeating: "0", count: 64),
        "--changed-since": "1", "--corrections": "folder", "--verify": "folder",
        "--bundle-id": "example.subledger", "--by": "ops", "report ask --by": "product",
        "--column": "payload", "--commission": "standard", "--config": "settings.json",
        "--content": "content.json", "--currency": "EUR", "--database-url": "host=/nowhere",
        "--days": "3", "--delay": "1", "--delivery": "delivered", "--drain-seconds": "1",
        "--effective-from": "2026-01-01", "--elapsed": "1d", "--environment": "production",
        "--extras": "seats", "--fail": "1", "--format": "v2",
        "feed --format": "cloudevents", "effects --format": "cloudevents",
        "--from": "2026-01-01",
        "--group": "pro", "--host": "127.0.0.1", "--html": "page.html", "--into": "beside",
        "--installs": "installs.csv", "--issuer-id": "issuer", "--jobs": "1", "--key": "key.p8",
        "--key-id": "key",
        "--kind": "currency", "--sign": "key.pem",
        "--signed-for": "3d", "--signing-key": "key.pem", "--known": "1..2", "--known-at": "1",
        "--lanes": "2",
        "--late-notification": "1d", "--late-renewal": "1d", "--lease": "10", "--limit": "1",
        "--lock-timeout": "1", "--log-format": "json", "--log-level": "info",
        "--loop-changes": "3", "--loop-days": "3", "--lose": "1",
        "--month": "1m", "--notify": "https://service.example", "--out": "folder",
        "--page-size": "10", "--partition-by": "day", "--partitions": "2", "--pause": "1s",
        "--percent-consumed": "50", "--policy": "policy.json",
        "--answer-consumption": "policy.json",
        "--poll-interval": "1", "--poll-pause": "1s",
        "--poll-within": "1d", "--port": "8080", "--print-proxy": "nginx", "--product": "pro",
        "--public-key": "key.pem", "--purchases": "3", "--rate": "1",
        "--rate-days": "3", "--reason": "outage", "rejections --reason": "certificate-expired",
        "--refund": "decline", "--refunds": "3",
        "--repeat": "1", "--request-id": "request", "--role": "support",
        "--root-certificate": "root.der", "--samples": "1",
        "--sandbox-customer": "tester", "--sandbox-from": "2026-01-01",
        "--sandbox-subscriptions": "1", "--sandbox-to": "2026-02-01", "--schema": "beside",
        "--seats": "1", "--seed": "1", "--serve": "0",
        "--shared-secret": "secret",
        "--shared-secret-file": "secret", "--since": "2026-01-01",
        "--source": "file", "--storefront": "USA", "--subscriptions": "2",
        "--tax": "DEU=19", "--timeout": "1", "--tls-certificate": "certificate.pem",
        "--tls-key": "key.pem", "--to": "1", "--token-accounts": "3",
        "report ask --to": "2026-02-01",
        "--trust": "signed", "--truth": "truth.ndjson", "--tz": "Europe/Berlin",
        "--url": "https://service.example", "--version": "1", "--with": "policy.json",
        "--wait-for": "1", "--within": "30d", "--without": "lateNotification",
    ]

    private static let served = "simulate --out folder --serve 0"

    /// Commands in which the option is accepted, where the table's line excludes it.
    private static let instead = [
        "backfill --since": "backfill --dry-run", "import --known": "import --pause 0s",
        "rejections --vouch": "rejections --retry",
        "rejections --root-certificate": "rejections --retry",
        "rejections --bundle-id": "rejections --retry",
        "rejections --app-apple-id": "rejections --retry",
        "rejections --environment": "rejections --retry",
        "rejections --assume-environment": "rejections --retry",
        "rejections --shared-secret-file": "rejections --retry",
        "rebuild --to": "rebuild --into beside",
        "rebuild --samples": "rebuild --with policy.json",
        "rebuild --html": "rebuild --with policy.json", "follow --wait-for": "follow",
        "follow --timeout": "follow --wait-for 1",
        "entitlements --sign": "entitlements 1",
        "entitlements --signed-for": "entitlements 1 --sign key.pem",
        "apple consumption --auto": "apple consumption --policy policy.json",
        "apple consumption --policy": "apple consumption --auto",
        "apple consumption --list": "apple consumption",
        "apple consumption --follow": "apple consumption --auto --policy policy.json --execute",
        "verify --public-key": "verify --against checkpoint.json",
        "verify --root-certificate": "verify --signatures",
        "report close --verify": "report close",
        "checkpoint --public-key": "checkpoint --key key.pem",
        "feed --poll-interval": "feed --follow",
        "simulate --notify": served, "simulate --lose": served, "simulate --repeat": served,
        "simulate --delay": served, "simulate --fail": served, "simulate --rate": served,
        "simulate --month": served, "simulate --elapsed": served + " --month 1m",
        "simulate --sandbox-subscriptions": served,
    ]
}
