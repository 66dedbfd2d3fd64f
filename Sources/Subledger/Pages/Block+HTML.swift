package import Events

extension Block {
    /// The part as markup: a paragraph, or a table whose cells have links to the events that they
    /// cite.
    ///
    /// - Parameter link: The address of an event's page.
    /// - Returns: The markup.
    package func html(link: (Position) -> String) -> HTML {
        switch self {
        case .line(let line): return "<p>\(Block.linked(line, link))</p>"
        case .gap: return ""
        case .table(let header, let rows):
            let head = header.map { name -> HTML in
                name.isEmpty ? "<td></td>" : "<th scope=\"col\">\(name)</th>"
            }
            let body = rows.map { row -> HTML in
                let cells = row.map { cell -> HTML in "<td>\(Block.linked(cell, link))</td>" }
                return "<tr>\(cells)</tr>"
            }
            return """
                <div class="scroll" tabindex="0"><table class="report"><thead><tr>\(head)</tr></thead>
                <tbody>\(HTML.joined(body))</tbody></table></div>
                """
        }
    }

    /// The names of a column and a value in each row, as a list: for a table about one thing.
    package var properties: HTML {
        guard case .table(let header, let rows) = self else { return "" }
        let items = ([header] + rows).filter { $0.count == 2 }.map { row -> HTML in
            "<dt>\(row[0])</dt><dd>\(row[1])</dd>"
        }
        return "<dl class=\"subject\">\(HTML.joined(items))</dl>"
    }

    // Words such as `#17` and `#0:17` become links; everything else stays text.
    private static func linked(_ text: String, _ link: (Position) -> String) -> HTML {
        let pieces = text.split(separator: " ", omittingEmptySubsequences: false).map { word in
            let end = word.last.map { ",:;.".contains($0) } == true ? word.suffix(1) : ""
            let mark = word.dropLast(end.count)
            return position(in: mark).map { position -> HTML in
                "<a href=\"\(link(position))\">\(String(mark))</a>\(String(end))"
            } ?? "\(String(word))"
        }
        return HTML.joined(pieces, by: " ")
    }

    private static func position(in word: Substring) -> Position? {
        guard word.first == "#", word.utf8.count <= Block.markByteCountMax else { return nil }
        let digits = word.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
        guard (1...2).contains(digits.count), let offset = digits.last.flatMap({ Int64($0) }),
            let lane = digits.count == 1 ? 0 : Int(digits[0]), offset > 0,
            (0...Int(Int32.max)).contains(lane)
        else { return nil }
        return Position(lane: Lane(lane), offset: offset)
    }

    /// The longest mark of a position.
    private static let markByteCountMax = 32
}
