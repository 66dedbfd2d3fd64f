import Events

extension RandomFacts {
    /// Facts of one subscription, some of them twice, in one or several commits.
    mutating func recordedHistory() -> RecordedHistory {
        let facts = facts(Int.random(in: 1...16, using: &random)).filter {
            $0.stream == RandomFacts.streams[0]
        }
        let batches = deliveries(of: facts)
        return RecordedStory.history(
            of: batches.enumerated().flatMap { number, batch in
                batch.map {
                    (recordedAt: Instant(milliseconds: Int64(number)), payload: 0, fact: $0)
                }
            }
        )
    }
}
