/// Lets a limited number of tasks through at once, the others in order of arrival.
actor Gate {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Makes a gate for that many tasks at once.
    init(width: Int) { free = width }

    /// Waits for a place; every call needs one of ``leave()``.
    func enter() async {
        if free > 0 {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Gives the place to the next.
    func leave() {
        if waiting.isEmpty {
            free += 1
        } else {
            waiting.removeFirst().resume()
        }
    }
}
