import CommandSupport
import Events
import Subledger

extension ContentDocument {
    /// The answer as text.
    var text: [String] {
        var table = TextTable(["published", "issue", "unlocked", "because"])
        for line in issues {
            table.add([
                line.publishedAt.clock, line.name, line.unlocked ? "yes" : "no", line.because,
            ])
        }
        return ["\(id) · \(environment) · \(at.zonedClock)", table.text]
    }
}

extension ContentDocument.Line {
    fileprivate var because: String {
        guard let run else { return "" }
        return reason == "newestAtStart"
            ? "newest issue at the start on \(run.lowerBound.clock)"
            : "published while subscribed, \(run.text)"
    }
}
