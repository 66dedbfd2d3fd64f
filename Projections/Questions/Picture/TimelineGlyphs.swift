internal import Events

/// The characters of a picture.
struct TimelineGlyphs {
    let trial: Character
    let offer: Character
    let paid: Character
    let grace: Character
    let refund: Character
    let nothing: Character
    let change: Character
    let onward: Character
    let reversed: String
    let minus: String
    let line: Character
    let left: Character
    let right: Character
    let tick: Character
    let asked: String

    /// The characters of a style; the letters are those of the audit's words: `t` trial, `#` paid,
    /// `~` grace, `x` refund, `.` none, `^` change.
    init(_ style: TimelinePicture.Style) {
        switch style {
        case .unicode:
            (trial, offer, paid, grace) = ("▒", "▓", "█", "░")
            (refund, nothing, change, onward) = ("╳", "·", "▲", "→")
            (reversed, minus, line) = ("↩", "−", "─")
            (left, right, tick, asked) = ("├", "┤", "|", "▼ asked")
        case .ascii:
            (trial, offer, paid, grace) = ("t", "o", "#", "~")
            (refund, nothing, change, onward) = ("x", ".", "^", ">")
            (reversed, minus, line) = ("<-", "-", "-")
            (left, right, tick, asked) = ("[", "]", "|", "v asked")
        }
    }

    func cell(_ kind: ActivePeriod.Kind) -> Character {
        switch kind {
        case .trial: trial
        case .intro, .offer: offer
        case .paid, .family, .assigned: paid
        case .grace: grace
        }
    }

    var legend: String {
        "\(trial) trial  \(offer) offer  \(paid) paid  \(grace) grace  \(refund) refund  "
            + "\(nothing) no access  \(reversed) reversed  \(change) change"
    }
}
