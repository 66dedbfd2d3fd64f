import ArgumentParser
import CommandSupport
import EventLog
import Events
import Foundation
import Subledger

struct CheckpointCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "checkpoint",
        abstract:
            "Record the newest commit of every lane, in a document to keep outside the database.",
        discussion: """
            Prints a small JSON document with the number and digest of the newest commit of each \
            lane. A digest covers all commits before it, so `verify --against` can prove later \
            that the log still contains them. The chain alone cannot prove that: a superuser can \
            rewrite all of it with matching digests.

            Keep the document where those who can write to the database cannot change it: storage \
            with object lock in another account, another team's repository, a printout. Take \
            a checkpoint at least daily; it takes milliseconds, however large the log is. A \
            checkpoint does not verify the log.

            Create a key, and keep it off the database server:
              (umask 077; openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 \
            -out checkpoint.pem)
              subledger checkpoint --key checkpoint.pem --public-key > checkpoint.pub

            `verify --public-key checkpoint.pub` then accepts only documents signed with this key.

            Each document is also stored as a row of ledger.checkpoint, which requires the role \
            ledger_writer. With --no-store, the role ledger_reader is enough, and the command also \
            runs on a standby server.
            """
    )

    @Option(
        help: ArgumentHelp(
            "Sign with this P-256 private key (PEM; mode 600).",
            valueName: "file"
        )
    )
    var key: String?

    @Option(
        help: ArgumentHelp(
            "Write the document to this file instead of stdout.",
            valueName: "file"
        )
    )
    var out: String?

    @Flag(help: "Print the public key of --key (PEM) and do not take a checkpoint.")
    var publicKey = false

    @Flag(help: "Do not store the document in ledger.checkpoint.")
    var noStore = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !publicKey || key != nil else {
            throw ValidationError("--public-key prints the public key of --key: add --key FILE")
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
                try await log.record(signed)
            } catch {
                await log.close()
                Terminal.write(
                    "subledger: the checkpoint could not be stored; with --no-store it is printed "
                        + "without being stored"
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
                + (signed.signature.map { "signed with the key \($0.publicKey.fingerprint)" }
                    ?? "not signed: anyone who can edit the document can forge it (--key FILE signs)")
        )
    }
}
