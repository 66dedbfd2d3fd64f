import CommandSupport
import Synchronization

/// Prints answers one by one as they are found: a JSON array, or one line of text each.
final class StreamedLines: Sendable {
    private let isJSON: Bool
    private let header: String?
    private let isFirst = Mutex(true)

    /// - Parameters:
    ///   - isJSON: Whether an array is printed.
    ///   - header: The line before the first; nil for none.
    init(isJSON: Bool, header: String? = nil) {
        self.isJSON = isJSON
        self.header = header
    }

    /// Whether nothing was printed yet.
    var isEmpty: Bool { isFirst.withLock { $0 } }

    /// Prints one: its document, or its line.
    func print(_ document: some Encodable, _ line: String) throws {
        let isFirst = isFirst.withLock { isFirst in
            defer { isFirst = false }
            return isFirst
        }
        if isJSON {
            Terminal.put((isFirst ? "[" : ",") + (try Terminal.text(json: document)))
            return
        }
        if isFirst, let header { Terminal.print(header) }
        Terminal.print(line)
    }

    /// Ends the array, which is still empty if nothing was found.
    func finish() { if isJSON { Terminal.print(isEmpty ? "[]" : "]") } }
}
