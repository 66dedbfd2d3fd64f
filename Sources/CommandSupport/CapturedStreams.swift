import Synchronization

/// What a command wrote to stdout and stderr, collected instead of written.
package final class CapturedStreams: Sendable {
    private let written = Mutex<(output: [UInt8], errors: [UInt8])>(([], []))

    /// Nothing yet.
    package init() {}

    /// The text on stdout.
    package var output: String {
        written.withLock { String(decoding: $0.output, as: UTF8.self) }
    }

    /// The text on stderr.
    package var errors: String {
        written.withLock { String(decoding: $0.errors, as: UTF8.self) }
    }

    func append(_ bytes: [UInt8], to descriptor: Int32) {
        written.withLock { written in
            if descriptor == 1 { written.output += bytes } else { written.errors += bytes }
        }
    }
}
