import Foundation
import Testing

/// What comments cite: a document in this repository, and a heading in it.
@Suite struct CitationTests {
    private static let endings = [".swift", ".sql", ".md", ".txt", ".py", ".h"]

    /// Every file that may cite, except the catalog, and this one, which shows broken citations.
    private static func citingFiles() throws -> [(path: String, text: String)] {
        let folders = ["Sources", "Tests", "Projections", "schema"]
        let single = ["README.md", "Package.swift", "Makefile"].map { path in
            (path, TidyTests.root.appendingPathComponent(path))
        }
        return try endings.flatMap { try TidyTests.files(in: folders, ending: $0) }
            .filter { !$0.path.hasSuffix("/CitationTests.swift") && !$0.path.contains(".docc/") }
            + single.map { (path: $0, text: try String(contentsOf: $1, encoding: .utf8)) }
    }

    private static func catalog() throws -> Catalog {
        Catalog(
            try TidyTests.files(in: ["Sources/Subledger/Subledger.docc"], ending: ".md").map(\.text)
        )
    }

    @Test func `every cited document is in the repository`() throws {
        let files = try CitationTests.citingFiles()
        let documents = files.map(\.path).filter { $0.hasSuffix(".md") }
        for (path, text) in files {
            let absent = Citations(text).foreignDocuments(but: documents)
            #expect(absent.isEmpty, "\(path) cites \(absent)")
        }
    }

    @Test func `every cited heading is in the documentation`() throws {
        let catalog = try CitationTests.catalog()
        var count = 0
        for (path, text) in try CitationTests.citingFiles() {
            let citations = Citations(text)
            count += citations.headings.count
            let broken = citations.headings.filter { !catalog.contains($0) }
            #expect(broken.isEmpty, "\(path) cites \(broken)")
        }
        #expect(count > 300, "only \(count) citations were found")
    }

    @Test func `every trap and every scenario of Apple's data is cited by a test`() throws {
        var cited: Set<Citations.Heading> = []
        for (path, text) in try TidyTests.files(in: ["Tests"])
        where !path.hasSuffix("/CitationTests.swift") {
            // A comment inside a test, not a suite's comment.
            for line in text.split(separator: "\n") where line.hasPrefix("        // Apple's data:")
            {
                cited.formUnion(Citations(String(line)).headings)
            }
        }
        let rules = ["magazine rule", "offer eligibility"]
        let owed = try CitationTests.catalog().headings.filter { heading in
            heading.name.contains(#/^(?:trap|scenario) \d+$/#) || rules.contains(heading.name)
        }
        #expect(owed.count == 50 + 18 + rules.count)
        #expect(owed.subtracting(cited).isEmpty, "\(owed.subtracting(cited))")
    }

    @Test func `a broken citation is found`() {
        let catalog = Catalog(["# Apple's data: traps\n\n## Traps\n\n### Trap 1: an id\n"])
        let text = """
            /// Cited well (Apple's data: traps, trap 1), over two lines (Apple's
            /// data: trap 1): and more.
            // Apple's data: traps 1 to 3.
            -- Cited badly (Apple's data: trap 1, wishes; Decisions are made), (Concepts: trust).
            """
        let broken = Citations(text).headings.filter { !catalog.contains($0) }
        #expect(broken.map(\.name) == ["trap 2", "trap 3", "wishes", "trust"])
    }

    @Test func `a citation of a missing document is found`() {
        let text = """
            /// As in notes/plan.md §3, schema/README.md and README.md.
            // DESIGN §4: S004's rule, F-800210 (RFC 7515 §4.1, X.690 §8.7.3).
            """
        let found = Citations(text).foreignDocuments(but: ["README.md", "schema/README.md"])
        #expect(found == ["notes/plan.md", "§", "DESIGN", "§", "S004", "F-800210"])
    }
}

/// The articles that comments cite.
private struct Catalog {
    private(set) var headings: Set<Citations.Heading> = []

    /// The headings and bold terms of articles, each up to a colon.
    init(_ articles: [String]) {
        for article in articles {
            guard let title = article.firstMatch(of: #/^# ([^:\n]+)/#) else { continue }
            let names =
                article.matches(of: #/^##+ ([^:\n]+)/#.anchorsMatchLineEndings()).map { $0.1 }
                + article.matches(of: #/\*\*([^*\n]+)\*\*/#).map { $0.1 }
            for name in names {
                headings.insert(Citations.Heading(article: String(title.1), name: String(name)))
            }
        }
    }

    func contains(_ heading: Citations.Heading) -> Bool { headings.contains(heading) }
}

/// The citations in a text.
private struct Citations {
    /// A heading of an article.
    struct Heading: Hashable, CustomStringConvertible {
        let article: String
        /// In lower case, because a citation may start within a sentence.
        let name: String

        init(article: String, name: String) {
            self.article = article
            self.name = name.lowercased()
        }

        var description: String { "\(article): \(name)" }
    }

    // A citation may continue on the next line of its comment, so each comment is one line here.
    private let lines: [Substring]

    init(_ text: String) {
        guard Citations.marks.contains(where: { text.contains($0) }) else {
            lines = []
            return
        }
        let texts = text.split(separator: "\n", omittingEmptySubsequences: false)
        let joined = texts.reduce(into: "") { joined, line in
            let code = line.drop { $0 == " " || $0 == "\t" }
            let marker = ["///", "//", "--"].first { code.hasPrefix($0) }
            joined +=
                marker.map { " " + code.dropFirst($0.count).drop { $0 == " " } } ?? "\n" + line
        }
        lines = joined.split(separator: "\n").filter { line in
            Citations.marks.contains { line.contains($0) }
        }
    }

    // Texts without these contain no citations; regular expressions are slow.
    private static let marks = [
        "Apple's", "(Concepts: ", "(Decisions: ", "(Operating: ", "(Scaling", ".md", "§", "DESIGN",
        "S00", "F-",
    ]

    /// The headings it cites: `Apple's data: trap 9, traps 19 to 22, renewal info`; articles with
    /// other names only in parentheses.
    var headings: [Heading] {
        lines.flatMap { line in
            let citations = line.matches(
                of: #/(Apple's data|\((?:Concepts|Decisions|Operating|Scaling out)): ([^.:;)]+)/#
            )
            return citations.flatMap { citation in
                let article = citation.1.drop { $0 == "(" }
                return names(in: citation.2).map { Heading(article: String(article), name: $0) }
            }
        }
    }

    // A number without a word belongs to the last word before it.
    private func names(in list: Substring) -> [String] {
        var kind = ""
        return list.split(separator: #/, (?:and )?| and /#).flatMap { item -> [String] in
            guard let found = item.wholeMatch(of: #/(?:(trap|scenario)s? )?(\d+)(?: to (\d+))?/#),
                let first = Int(found.2)
            else { return [item.trimmingCharacters(in: .whitespaces)] }
            kind = found.1.map { String($0) } ?? kind
            let last = found.3.flatMap { Int($0) } ?? first
            return (first...max(first, last)).map { "\(kind) \($0)" }
        }
    }

    /// Its other citations: documents other than these, and sections outside numbered standards.
    func foreignDocuments(but documents: [String]) -> [String] {
        let cited = lines.flatMap { line in
            line.matches(
                of: #/[\w."\/-]+\.md\b|\bDESIGN\b|\bS00\d\b|\bF-\d{5,6}\b|(?:[\w.\/-]+,? )?§/#
            )
        }
        return cited.map { String($0.0) }.filter { name in
            if name.hasSuffix("§") {
                return !name.contains(#/^(?:\d+|X\.690),? §$/#)
            }
            // In quotes it is the name of a file that a test writes or reads.
            return !name.hasPrefix("\"")
                && !documents.contains { $0 == name || $0.hasSuffix("/" + name) }
        }
    }
}
