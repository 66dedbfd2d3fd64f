import ArgumentParser
import CommandSupport
import EventLog
import Events
import Foundation
import Subledger

/// A document of heads stored in a file: a checkpoint, or the output of `verify --json`.
struct KeptDocument {
    /// The file, followed by the line if it contains several.
    let name: String
    /// The heads it records.
    let heads: KeptHeads
    /// The checkpoint; nil for the output of `verify --json`.
    let checkpoint: SignedCheckpoint?

    /// The documents in these files; a file contains one, or one per line.
    ///
    /// - Parameters:
    ///   - paths: The files.
    ///   - keys: Only documents signed by one of these are accepted; empty for any document.
    /// - Returns: The documents, in that order.
    /// - Throws: A `Failure` that names each refused document.
    static func read(
        _ paths: [String],
        keys: Set<CheckpointPublicKey>
    ) throws -> [KeptDocument] {
        var documents: [KeptDocument] = []
        var refusals: [String] = []
        for path in paths {
            let data = Data(try WholeFile.bytes(of: path, "the document", upTo: .max))
            for (name, text) in parts(of: data, path) {
                do {
                    documents.append(try document(text, name, keys))
                } catch {
                    refusals.append("\(name) \(error.reason)")
                }
            }
        }
        guard refusals.isEmpty else {
            throw Failure(Exit.badInput, refusals.joined(separator: "\nsubledger: "))
        }
        return documents
    }

    // One document may span several lines; otherwise each line is a document.
    private static func parts(of data: Data, _ path: String) -> [(name: String, Data)] {
        let lines = data.split(separator: UInt8(ascii: "\n")).filter { line in
            line.contains { $0 > 0x20 }
        }
        do {
            _ = try JSONDecoder().decode(Kind.self, from: data)
            return [(path, data)]
        } catch {
            guard lines.count > 1 else { return [(path, data)] }
            return lines.enumerated().map { ("\(path) line \($0 + 1)", Data($1)) }
        }
    }

    private struct Kind: Decodable {
        let type: String?
    }

    private struct Refusal: Error {
        let reason: String
    }

    private static func document(
        _ data: Data,
        _ name: String,
        _ keys: Set<CheckpointPublicKey>
    ) throws(Refusal) -> KeptDocument {
        guard let kind = decoded(Kind.self, data), kind.type != nil else {
            guard keys.isEmpty else {
                throw Refusal(reason: "is not signed; --public-key accepts only signed documents")
            }
            return KeptDocument(
                name: name,
                heads: try verified(data, name),
                checkpoint: nil
            )
        }

        guard let document = decoded(CheckpointDocument.self, data) else {
            throw Refusal(
                reason: "is not a document of `checkpoint`: a member is missing or invalid"
            )
        }
        let signed: SignedCheckpoint
        do throws(CheckpointDocumentError) {
            signed = try document.signedCheckpoint()
        } catch {
            throw Refusal(
                reason: error == .forged
                    ? "was edited or forged: its signature does not match its content"
                    : "is not a document of `checkpoint`: a value is invalid"
            )
        }

        try accept(signed, keys)
        return KeptDocument(
            name: name,
            heads: KeptHeads(signed.checkpoint, source: name),
            checkpoint: signed
        )
    }

    private static func accept(
        _ signed: SignedCheckpoint,
        _ keys: Set<CheckpointPublicKey>
    ) throws(Refusal) {
        guard !keys.isEmpty else { return }
        guard let signature = signed.signature else {
            throw Refusal(reason: "is not signed; --public-key accepts only signed documents")
        }
        guard keys.contains(signature.publicKey) else {
            throw Refusal(
                reason: "is signed with the key \(signature.publicKey.fingerprint), not with "
                    + keys.map(\.fingerprint).sorted().joined(separator: " or ")
            )
        }
    }

    private static func decoded<Value: Decodable>(_ type: Value.Type, _ data: Data) -> Value? {
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            return nil
        }
    }

    private struct VerifiedHeads: Decodable {
        let ok: Bool?
        let heads: [VerificationReport.Head]
    }

    private static func verified(_ data: Data, _ name: String) throws(Refusal) -> KeptHeads {
        guard let kept = decoded(VerifiedHeads.self, data) else {
            throw Refusal(reason: "is not a document of `checkpoint` or `verify --json`")
        }
        guard kept.ok ?? true, !kept.heads.isEmpty, kept.heads.allSatisfy({ $0.commit >= 1 })
        else {
            throw Refusal(
                reason: "proves nothing: expected the heads of a `verify` that found no mismatch"
            )
        }
        return KeptHeads(kept.heads, source: name)
    }
}
