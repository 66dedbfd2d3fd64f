import ArgumentParser
import EventLog
import Subledger

/// The positions that `--wait-for` names; lanes that it leaves out do not matter.
struct AwaitedPositions {
    /// The offsets by lane.
    let vector: PositionVector
    // Written without a lane, which only a ledger with one lane accepts.
    private let isBare: Bool

    /// Parses an offset, or `lane:offset` pairs separated by commas; throws for anything else.
    init(_ text: String) throws {
        guard case .offsets(let offsets)? = KnownAt(text) else {
            throw ValidationError(
                "'\(text.prefix(80))' is not a position; expected what `ingest` and `feed` "
                    + "print: an offset (1391877), or lane:offset pairs (0:17,1:4) if the ledger "
                    + "has several lanes"
            )
        }
        vector = PositionVector(offsets)
        isBare = !text.contains(":")
    }

    /// Throws for positions that do not exist in this ledger.
    func check(in log: EventLog) async throws {
        let lanes = log.identity.lanes
        guard !isBare || lanes == .one else {
            throw ValidationError(
                "--wait-for names an offset without its lane, and this ledger has "
                    + "\(lanes.value) lanes: write LANE:OFFSET"
            )
        }
        try await vector.check("--wait-for", takesInstant: false, naming: [], in: log)
    }
}
