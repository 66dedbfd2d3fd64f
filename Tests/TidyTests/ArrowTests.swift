import Foundation
import Testing

/// The arrows between the folders of `Projections`, which the compiler sees as one module.
@Suite struct ArrowTests {
    /// The layers, the lowest first: a file may use the types of its own layer and of lower ones.
    ///
    /// The first folder that a path begins with counts; a path in no folder belongs to the last
    /// layer.
    private static let layers = [
        ["Projections/Catalog/"],
        ["Projections/Interpret/Timeline/"],
        ["Projections/Interpret/Claims/"],
        ["Projections/Interpret/Statements/"],
        ["Projections/Interpret/Access/"],
        ["Projections/Interpret/Refunds/"],
        ["Projections/Interpret/Renewal/"],
        ["Projections/Interpret/PlanChanges/"],
        ["Projections/Tables/", "Projections/Analytics/"],
        ["Projections/Questions/"],
        ["Projections/Effects/"],
        ["Projections/Projections.swift"],
    ]

    private static func layer(of path: String) -> Int? {
        layers.firstIndex { $0.contains { path.hasPrefix($0) } }
    }

    @Test func `every file of the projections is in a layer`() throws {
        for (path, _) in try TidyTests.files(in: ["Projections"]) {
            #expect(ArrowTests.layer(of: path) != nil, "\(path) is in no layer of this test")
        }
    }

    @Test func `no folder of the projections uses a type of a folder above it`() throws {
        let files = try TidyTests.files(in: ["Projections"]).compactMap { path, text in
            ArrowTests.layer(of: path).map { (path: path, layer: $0, code: SourceCode(text)) }
        }
        let none = [Set<String>](repeating: [], count: ArrowTests.layers.count)
        var (declared, outermost) = (none, none)
        for file in files {
            declared[file.layer].formUnion(file.code.typesDeclared)
            outermost[file.layer].formUnion(file.code.outermostTypes)
        }
        for file in files {
            // A name declared here or below means that type, even if a higher layer declares it
            // too.
            let known = declared[...file.layer].reduce(into: Set()) { $0.formUnion($1) }
            let above = outermost[(file.layer + 1)...].reduce(into: Set()) { $0.formUnion($1) }
            let against = file.code.typesUsed.intersection(above).subtracting(known)
            #expect(against.isEmpty, "\(file.path) uses \(against.sorted()) of a layer above it")
        }
    }

    @Test func `the test finds types in code but not in comments or texts`() {
        let code = SourceCode(
            """
            /// Not `Comment`.
            extension Outer {
                struct Inner { let text = "Text, and \\(Interpolated.self)" }  // Remark
            }
            """
        )
        #expect(code.typesDeclared == ["Inner"])
        #expect(code.outermostTypes == [])
        #expect(code.typesUsed == ["Outer", "Inner", "Interpolated"])
    }
}

/// The type names of a file, found by their spelling.
private struct SourceCode {
    let typesDeclared: Set<String>
    /// The types that are not nested; a nested type is used together with its outer name.
    let outermostTypes: Set<String>
    let typesUsed: Set<String>

    init(_ text: String) {
        let code = text.split(separator: "\n").map(SourceCode.withoutWords).joined(separator: "\n")
        let kinds = #/\b(?:struct|enum|class|actor|protocol|typealias) ([A-Z]\w*)/#
        typesDeclared = Set(code.matches(of: kinds).map { String($0.1) })
        let outermost = code.split(separator: "\n").filter { $0.first != " " }.joined(
            separator: "\n"
        )
        outermostTypes = Set(outermost.matches(of: kinds).map { String($0.1) })
        typesUsed = Set(code.matches(of: #/\b[A-Z]\w*/#).map { String($0.0) })
    }

    /// A line without its comment, and without its texts except for interpolations.
    private static func withoutWords(_ line: Substring) -> String {
        let code = line.replacing(#/"(?:[^"\\]|\\.)*"/#) { text in
            text.0.matches(of: #/\\\(([^)]*)\)/#).map { String($0.1) }.joined(separator: " ")
        }
        return String(code.replacing(#/\/\/.*/#, with: ""))
    }
}
