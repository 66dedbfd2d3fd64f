import Foundation

/// The arguments of this process as visible to other users of the machine, in `ps` and /proc.
package enum ProcessArguments {
    private static let option = "--database-url"

    /// Replaces the value of `--database-url` by stars if it contains a password.
    ///
    /// Does nothing if the system does not reveal where the arguments are stored. They were visible
    /// until then: `DATABASE_URL`, `PGPASSWORD` and ~/.pgpass never are.
    package static func hidePasswords() {
        // Swift's own copy is made now, before the memory is overwritten.
        guard CommandLine.arguments.contains(where: { $0.hasPrefix(option) }) else { return }
        var isValue = false
        for argument in memory() {
            let text = String(decoding: UnsafeRawBufferPointer(argument), as: UTF8.self)
            let prefix = option + "="
            if isValue, holdsPassword(text) {
                argument.update(repeating: UInt8(ascii: "*"))
            } else if text.hasPrefix(prefix), holdsPassword(text) {
                UnsafeMutableBufferPointer(rebasing: argument.dropFirst(prefix.utf8.count))
                    .update(repeating: UInt8(ascii: "*"))
            }
            isValue = text == option
        }
    }

    /// The text with the passwords of connection URLs and settings replaced by stars, because a
    /// command-line error repeats the argument.
    package static func withoutPasswords(_ text: String) -> String {
        text.replacing(#/:\/\/[^\s\/@']*:[^\s']*@/#, with: "://***@")
            .replacing(#/password=[^\s&']+/#, with: "password=***")
    }

    private static func holdsPassword(_ text: String) -> Bool {
        text.contains("password") || (text.contains("://") && text.contains("@"))
    }

    // Each argument's bytes in the memory that the kernel shows, without the terminating zero.
    private static func memory() -> [UnsafeMutableBufferPointer<UInt8>] {
        #if os(Linux)
        guard let area = area() else { return [] }
        var arguments: [UnsafeMutableBufferPointer<UInt8>] = []
        var start = area.startIndex
        for index in area.indices where area[index] == 0 {
            arguments.append(UnsafeMutableBufferPointer(rebasing: area[start..<index]))
            start = index + 1
        }
        return arguments
        #else
        return (0..<Int(CommandLine.argc)).compactMap { index in
            guard let argument = CommandLine.unsafeArgv[index] else { return nil }
            let count = strlen(argument)
            return argument.withMemoryRebound(to: UInt8.self, capacity: count) {
                UnsafeMutableBufferPointer(start: $0, count: count)
            }
        }
        #endif
    }

    #if os(Linux)
    // Fields 48 and 49 of /proc/self/stat, the first and the last address; the name of the program
    // is in parentheses and may contain spaces.
    private static func area() -> UnsafeMutableBufferPointer<UInt8>? {
        guard let stat = FileManager.default.contents(atPath: "/proc/self/stat") else {
            return nil
        }
        let text = String(decoding: stat, as: UTF8.self)
        guard let name = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: name)...].split(separator: " ")
        guard fields.count > 46, let first = UInt(fields[45]), let last = UInt(fields[46]),
            first > 0, last > first, let start = UnsafeMutablePointer<UInt8>(bitPattern: first)
        else { return nil }
        return UnsafeMutableBufferPointer(start: start, count: Int(last - first))
    }
    #endif
}
