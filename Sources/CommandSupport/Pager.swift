import Foundation
import Subledger
internal import Synchronization

/// Shows an answer that is longer than the terminal page by page.
///
/// Output is buffered until it fills the terminal, then goes to the program that PAGER names
/// (default `less`), interleaved with the output to stderr. With an empty PAGER, `cat`, or a
/// terminal that cannot move its cursor, answers are printed directly.
package enum Pager {
    private enum State {
        case off
        case holding([Piece], lines: Int)
        case paging(PagerPipe)
    }

    // Unchecked because the state's lock guards it.
    private struct PagerPipe: @unchecked Sendable {
        let stream: UnsafeMutablePointer<FILE>
    }

    private struct Piece {
        let descriptor: Int32
        let bytes: [UInt8]
    }

    private static let state = Mutex(State.off)

    /// Buffers output from now on, if stdout is a terminal.
    package static func begin() {
        guard command != nil, Terminal.size.rows != nil else { return }
        state.withLock { $0 = .holding([], lines: 0) }
        atexit { Pager.end() }
    }

    /// Takes output that is about to be written to a stream.
    ///
    /// - Parameters:
    ///   - bytes: Whole lines, or pieces of them.
    ///   - descriptor: 1 or 2.
    /// - Returns: False if the caller has to write it.
    static func takes(_ bytes: [UInt8], for descriptor: Int32) -> Bool {
        guard descriptor == 1 || StandardStream.isTerminal(descriptor) else { return false }
        return state.withLock { state in
            switch state {
            case .off: return false
            case .paging(let pipe):
                // A reader who has read enough closes the pager, so an error is ignored.
                _ = StandardStream.write(bytes, to: fileno(pipe.stream))
                return true
            case .holding(var pieces, var lines):
                pieces.append(Piece(descriptor: descriptor, bytes: bytes))
                lines += bytes.count { $0 == 0x0A }
                state = .holding(pieces, lines: lines)
                if lines >= Terminal.size.rows ?? .max { state = start(pieces) }
                return true
            }
        }
    }

    /// Writes the buffer, or waits until the pager is closed.
    private static func end() {
        state.withLock { state in
            switch state {
            case .off: break
            case .holding(let pieces, _): write(pieces)
            case .paging(let pipe): pclose(pipe.stream)
            }
            state = .off
        }
    }

    private static func write(_ pieces: [Piece]) {
        for piece in pieces { _ = StandardStream.write(piece.bytes, to: piece.descriptor) }
    }

    // If the pager cannot be started, everything is written to its own stream.
    private static func start(_ pieces: [Piece]) -> State {
        // The options with which other tools call less: no paging of short output, and output stays
        // on the screen.
        setenv("LESS", "FRX", 0)
        guard let pager = popen(command ?? "cat", "w") else {
            write(pieces)
            return .off
        }
        Interrupt.leaveToPager()
        for piece in pieces { _ = StandardStream.write(piece.bytes, to: fileno(pager)) }
        return .paging(PagerPipe(stream: pager))
    }

    private static var command: String? {
        let environment = ProcessEnvironment.variables
        guard StandardStream.isTerminal(1), environment["TERM"] != "dumb" else { return nil }
        let command = environment["PAGER"] ?? "less"
        return command.isEmpty || command == "cat" ? nil : command
    }
}
