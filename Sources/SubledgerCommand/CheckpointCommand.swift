import ArgumentParser
import EventLog
import Events
import Foundation
import Subledger

struct CheckpointCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "checkpoint",
        abstract:
            "Record the newest commit of every lane, signed, to be kept outside the database.",
        discussion: """
            Prints a small JSON document: the number and digest of the newest commit of each lane. \
            A digest covers all commits before it, so `verify --against` proves later that the log \
            still contains them. The chain alone cannot prove that: whoever has a superuser's \
            rights can rewrite all of it, with digests that match.

            A document helps only where those who can write the database cannot change it: storage \
            with object lock in another account, another team's repository, printed mail. Take one \
            at least daily; it takes milliseconds, whatever the size of the log. The log is not \
            verified by it.

            Make a key, and keep it off the database server:
              (umask 077; openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 \
            -out checkpoint.pem)
              subledger checkpoint --key checkpoint.pem --public-key > checkpoint.pub

            `verify --public-key checkpoint.pub` then accepts documents signed by it only.

            Each document is also kept as a row of ledger.checkpoint, which takes the role \
            ledger_writer. With --no-store the role ledger_reader is enough, and a standby answers.
            """
    )

    @Option(
        help: ArgumentHelp(
            "Sign with this P-256 private key (PEM; mode 600).",
            valueName: "file"
        )
    )
    var key: String?

    @Option(help: ArgumentHelp("Write the document here, not to stdout.", valueName: "file"))
    var out: String?

    @Flag(help: "Print the public key of --key (PEM) and take no checkpoint.")
    var publicKey = false

    @Flag(help: "Do not keep the document as a row of ledger.checkpoint.")
    var noStore = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !publicKey || key != nil else {
            throw ValidationError("--public-key prints that of --key; name the key's file")
        }
    }

    func run() async throws {
        let key = try key.map(CheckpointKeyFile.privateKey)
        try out.map { try OutputFile($0).check() }
        if publicKey, let key {
            try put(key.publicKey.pem)
            return
        }
        let signed = try await take(key)
        try put(try Terminal.text(json: CheckpointDocument(signed)) + "\n")
        note(signed)
    }

    private func take(_ key: CheckpointPrivateKey?) async throws -> SignedCheckpoint {
        let log = try await database.openLog()
        let signed = SignedCheckpoint(try await log.checkpoint(), signedBy: key)
        if !noStore {
            do {
                try await log.keep(signed)
            } catch {
                await log.close()
                Terminal.write(
                    "subledger: the checkpoint could not be stored; --no-store prints it all the "
                        + "same"
                )
                throw error
            }
        }
        await log.close()
        return signed
    }

    private func put(_ text: String) throws {
        if let out {
            try OutputFile(out).write(text)
        } else {
            Terminal.put(text)
        }
    }

    private func note(_ signed: SignedCheckpoint) {
        guard !output.quiet else { return }
        let place = out.map { "written to \($0), " } ?? ""
        let heads = signed.checkpoint.heads.count
        Terminal.write(
            "checkpoint of \(signed.checkpoint.takenAt): \(place)\(heads) "
                + "\(heads == 1 ? "head" : "heads"), "
                + (signed.signature.map { "signed by the key \($0.publicKey.fingerprint)" }
                    ?? "not signed: whoever can edit the document can forge it (--key FILE signs)")
        )
    }
}
