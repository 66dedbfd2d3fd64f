import CommandSupport
import Subledger

/// Reads a policy to be evaluated; `-` is stdin.
enum PolicyFile {
    /// The policy in a file.
    static func read(_ path: String) throws -> PolicyDocument {
        let bytes = try WholeFile.bytes(
            of: path,
            "the policy",
            upTo: PolicyDocument.byteCountMax,
            takesStandardInput: true
        )
        do throws(PolicyError) {
            return try PolicyDocument(json: bytes)
        } catch {
            throw failure(error, path)
        }
    }

    /// Why a policy was not accepted, with its file.
    static func failure(_ error: PolicyError, _ path: String) -> Failure {
        Failure(
            Exit.badInput,
            "\(path == "-" ? "the policy of stdin" : path): \(error.message)"
        )
    }
}
