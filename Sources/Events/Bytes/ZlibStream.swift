package import CZlib

/// A zlib stream at a fixed address, because zlib's state points back to it.
///
/// Unchecked: whoever owns it must use it in one call at a time.
package final class ZlibStream: @unchecked Sendable {
    /// The stream.
    package let pointer = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let end: @Sendable (UnsafeMutablePointer<z_stream>) -> Int32

    /// A started stream.
    ///
    /// - Parameters:
    ///   - start: zlib's function that starts it.
    ///   - end: zlib's function that ends it.
    package init(
        start: (UnsafeMutablePointer<z_stream>) -> Int32,
        end: @escaping @Sendable (UnsafeMutablePointer<z_stream>) -> Int32
    ) {
        self.end = end
        pointer.initialize(to: z_stream())
        let status = start(pointer)
        precondition(status == Z_OK, "zlib cannot start a stream: status \(status)")
    }

    deinit {
        _ = end(pointer)
        pointer.deallocate()
    }
}
