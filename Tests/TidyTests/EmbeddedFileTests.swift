import Events
import Foundation
import Testing

/// The files that the program carries: `Sources/CEmbeddedFiles/files.c`.
@Suite struct EmbeddedFileTests {
    private static let folders = ["Sources", "Projections", "schema"]

    /// Each embedded file: its name, and its path from the folder of `files.c`.
    private static func listed() throws -> [(name: String, path: String)] {
        let folder = "Sources/CEmbeddedFiles"
        let list = try #require(try TidyTests.files(in: [folder], ending: "/files.c").first)
        return list.text
            .matches(of: #/\{"([^"]+)", \(const char\[\]\)\{\n#embed "([^"]+)" suffix/#)
            .map { (String($0.1), "\(folder)/\($0.2)") }
    }

    @Test func `every embedded file has the bytes of the file of its name`() throws {
        let listed = try EmbeddedFileTests.listed()
        try #require(listed.count > 100)
        #expect(Set(listed.map(\.name)).count == listed.count)
        for (name, path) in listed {
            let file = TidyTests.root.appendingPathComponent(path).standardized
            #expect(file.lastPathComponent == name)
            #expect(embeddedFile(name) == [UInt8](try Data(contentsOf: file)), "\(path)")
        }
    }

    @Test func `every file of SQL is embedded, and every name in the sources is one`() throws {
        let listed = Set(try EmbeddedFileTests.listed().map(\.name))
        let files = try TidyTests.files(in: EmbeddedFileTests.folders, ending: ".sql")
        let names = files.map { $0.path.split(separator: "/").last.map(String.init) ?? "" }
        #expect(Set(names).subtracting(listed).isEmpty)
        var used: Set<String> = []
        for (path, text) in try TidyTests.files(in: EmbeddedFileTests.folders) {
            let called = text.matches(of: #/\b(?:embeddedFile|text)\(\s*"([^"\\]+\.\w+)"\s*\)/#)
                .map { String($0.1) }
            #expect(Set(called).isSubset(of: listed), "\(path)")
            used.formUnion(text.matches(of: #/"([^"\\\s]+)"/#).map { String($0.1) })
        }
        #expect(listed.subtracting(used).isEmpty, "no source reads these")
    }
}
