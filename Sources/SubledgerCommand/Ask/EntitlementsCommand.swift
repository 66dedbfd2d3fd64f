import ArgumentParser
import CommandSupport
import Events
import Subledger

struct EntitlementsCommand: AsyncParsableCommand, KnowledgeCommand {
    static let configuration = EntitlementsQuestion.configuration

    @OptionGroup var question: SubjectOptions

    @Option(help: Clock.help(EntitlementsQuestion.meaningOfAt), transform: Clock.time)
    var at: AskedTime?

    @OptionGroup var knowledge: KnowledgeOptions
    @OptionGroup var sandbox: SandboxOptions

    @Option(
        help: ArgumentHelp(
            "Print the answer signed with the P-256 key in this file (PEM), as a compact JWS.",
            discussion: """
                A client can verify it with the keys of /.well-known/jwks.json, and honour it \
                offline until its exp. Create a key: (umask 077; openssl genpkey -algorithm EC \
                -pkeyopt ec_paramgen_curve:P-256 -out FILE)
                """,
            valueName: "file"
        )
    )
    var sign: String?

    @Option(help: SigningKeys.lifetimeHelp, transform: SigningKeys.seconds)
    var signedFor: Int64?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard sign == nil || at == nil && knowledge.knownAt == nil && !output.json else {
            throw ValidationError(
                "--sign cannot be combined with --at, --known-at or --json: a signed answer is "
                    + "about now, and is a JWS"
            )
        }
        guard sign != nil || signedFor == nil else {
            throw ValidationError("--signed-for needs --sign")
        }
    }

    func run() async throws {
        let signer = try SigningKeys.signer(sign.map { [$0] } ?? [], seconds: signedFor)
        let clocks = knowledge.clocks(at: at)
        var asked = QuestionInput(question.subject, clocks)
        asked.sandbox = try sandbox.chosen(now: clocks.now)
        let answer = try await EntitlementsQuestion.ask(asked, of: database)
        if let signer {
            Terminal.print(try signer.sign(answer, at: clocks.now))
        } else {
            try output.print(answer, EntitlementsQuestion.text(answer, asked))
        }
    }
}

/// The keys that sign entitlements.
enum SigningKeys {
    /// The help of the time for which a signed answer is valid.
    static let lifetimeHelp = ArgumentHelp(
        "Time for which a signed answer is valid, from 1m. Default: 3d.",
        valueName: "duration"
    )

    /// The seconds of a duration such as 3d.
    static func seconds(_ text: String) throws -> Int64 {
        guard let milliseconds = Clock.duration(text), milliseconds >= 60_000 else {
            throw ValidationError("invalid duration '\(text)'; expected 1m or more, such as 3d")
        }
        return milliseconds / 1000
    }

    /// The signer with the keys in these files; nil if there is none.
    ///
    /// - Parameters:
    ///   - paths: The files; the first key signs, the others signed before.
    ///   - seconds: Seconds for which a signed answer is valid; nil for the default.
    /// - Returns: The signer.
    /// - Throws: `Failure` for a file without a key, or which others may read.
    static func signer(_ paths: [String], seconds: Int64?) throws -> EntitlementSigner? {
        let keys = try paths.map(CheckpointKeyFile.privateKey)
        return keys.first.map { key in
            EntitlementSigner(
                key,
                older: Array(keys.dropFirst()),
                validFor: seconds ?? EntitlementSigner.secondsDefault
            )
        }
    }
}
