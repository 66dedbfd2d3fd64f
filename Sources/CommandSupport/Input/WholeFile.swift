/// A file that is read as a whole: a setting, a certificate, a short list.
package enum WholeFile {
    /// The bytes of a file, or of stdin if the path is `-` and that is allowed.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - name: What the file is, for the message: "the policy".
    ///   - byteCountMax: Reading stops once there are more bytes than this, so that the caller sees
    ///     that there are too many.
    ///   - takesStandardInput: Whether `-` means stdin.
    /// - Returns: The bytes.
    /// - Throws: `Failure` 66 with the system's reason, and 130 if the operator asked to stop.
    package static func bytes(
        of path: String,
        _ name: String,
        upTo byteCountMax: Int,
        takesStandardInput: Bool = false
    ) throws -> [UInt8] {
        let isStandardInput = takesStandardInput && path == "-"
        var bytes: [UInt8] = []
        do throws(InputFailure) {
            let file =
                isStandardInput ? InputFile.standardInput : try InputFile(RawPath(Array(path.utf8)))
            while bytes.count <= byteCountMax {
                let chunk = try file.read()
                if chunk.isEmpty { break }
                bytes += chunk
            }
        } catch {
            throw Failure(
                Exit.inputMissing,
                "\(name) \(isStandardInput ? "on stdin" : path) cannot be read: \(error.reason)"
            )
        }
        guard !Interrupt.isRequested else { throw Exit.interrupted }
        return bytes
    }
}
