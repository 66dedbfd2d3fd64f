internal import CEmbeddedFiles

/// The bytes of a file that the program carries, by its name without a folder.
///
/// - Precondition: `Sources/CEmbeddedFiles/files.c` lists one of that name.
package func embeddedFile(_ name: String) -> [UInt8] {
    guard let text = embedded_file(name) else {
        preconditionFailure("CEmbeddedFiles has no file of the name \(name).")
    }
    return Array(String(cString: text).utf8)
}
