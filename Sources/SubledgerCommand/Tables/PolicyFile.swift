import CommandSupport
import Foundation
import Subledger

/// Reads a policy to be evaluated; `-` is stdin.
enum PolicyFile {
    /// The policy in a file.
    static func read(_ path: String) throws -> PolicyDocument {
        let bytes = try bytes(of: path)
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

    private static func bytes(of path: String) throws -> [UInt8] {
        do {
            let handle =
                path == "-"
                ? FileHandle.standardInput
                : try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            // One byte more than is allowed shows whether there is more.
            return [UInt8](try handle.read(upToCount: PolicyDocument.byteCountMax + 1) ?? Data())
        } catch {
            throw Failure(
                Exit.inputMissing,
                "the policy \(path) cannot be read; check that it is a file and its permissions"
            )
        }
    }
}
