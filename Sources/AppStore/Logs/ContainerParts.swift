internal import Events

/// Joins the parts into which container runtimes cut long lines.
///
/// Docker's json-file driver cuts at 16 KiB: all parts but the last are a `log` without a line
/// break. The runtimes of Kubernetes (CRI) mark a part with P and the last one with F.
struct ContainerParts: Sendable {
    /// What a line is.
    enum Taken {
        /// A line on its own, to be read as it is.
        case line
        /// A part; the next one follows on a later line.
        case part
        /// The last part; this is the whole text.
        case whole([UInt8])
    }

    // stdout and stderr alternate.
    private var stdout: [UInt8] = []
    private var stderr: [UInt8] = []

    /// Takes the next line.
    mutating func take(_ line: ArraySlice<UInt8>) -> Taken {
        guard let part = Part(docker: line) ?? Part(cri: line) else { return .line }
        return part.isError ? Self.take(part, after: &stderr) : Self.take(part, after: &stdout)
    }

    private static func take(_ part: Part, after parts: inout [UInt8]) -> Taken {
        // More than a payload may have is kept only to be refused.
        if part.isLast, parts.isEmpty { return .line }
        let room = LineReader.lineByteCountMax + 1 - parts.count
        parts += part.text.prefix(max(0, room))
        guard part.isLast else { return .part }
        defer { parts = [] }
        return .whole(parts)
    }

    /// The texts whose last part never came.
    mutating func drained() -> [[UInt8]] {
        defer { (stdout, stderr) = ([], []) }
        return [stdout, stderr].filter { !$0.isEmpty }
    }
}

/// A line of a container's log.
private struct Part {
    let isLast: Bool
    let isError: Bool
    private let content: ArraySlice<UInt8>
    private let isString: Bool

    /// What the container wrote.
    var text: ArraySlice<UInt8> {
        // A string that is not JSON is read as it stands.
        guard isString, let root = JSON.root(of: Array(content)) else { return content }
        let string = root.utf8 ?? []
        return isLast ? string.dropLast() : string
    }

    /// `{"log":"…\\n","stream":"stdout","time":"…"}`; nil for any other line.
    init?(docker line: ArraySlice<UInt8>) {
        guard line.starts(with: Part.start) else { return nil }
        let value = line.dropFirst(Part.start.count - 1)
        var scanner = ValueScanner(isArray: false)
        let (count, mark) = scanner.takeRun(of: value)
        let rest = value.dropFirst(count)
        guard mark == .end, rest.starts(with: Part.stream) else { return nil }
        isError = rest.dropFirst(Part.stream.count).starts(with: "stderr".utf8)
        (content, isString) = (value.prefix(count), true)
        // An n after an odd number of backslashes is a line break.
        let end = content.dropLast()
        let backslashes = end.dropLast().reversed().prefix { $0 == UInt8(ascii: "\\") }.count
        isLast = end.last == UInt8(ascii: "n") && backslashes % 2 == 1
    }

    private static let start = Array("{\"log\":\"".utf8)
    private static let stream = Array(",\"stream\":\"".utf8)

    /// `2026-01-02T03:04:05.000000000Z stdout P …`; nil for any other line.
    init?(cri line: ArraySlice<UInt8>) {
        guard let first = line.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
        else { return nil }
        let words = line.split(
            separator: UInt8(ascii: " "),
            maxSplits: 3,
            omittingEmptySubsequences: false
        )
        guard words.count == 4, words[0].contains(UInt8(ascii: "T")) else { return nil }
        isError = words[1].elementsEqual("stderr".utf8)
        guard isError || words[1].elementsEqual("stdout".utf8) else { return nil }
        isLast = words[2].elementsEqual("F".utf8)
        guard isLast || words[2].elementsEqual("P".utf8) else { return nil }
        (content, isString) = (words[3], false)
    }
}
