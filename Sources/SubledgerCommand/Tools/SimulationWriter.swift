import AppStoreSimulator
import CommandSupport
import Foundation

/// Writes payloads to a folder: one file of lines a channel, or a file each.
///
/// App receipts are binary and always a file each, in a folder of their own, named for the
/// subscription whose purchases they show.
struct SimulationWriter {
    /// What was written to one place.
    struct Place: Encodable {
        /// The file or folder, within the output folder.
        let path: String
        /// What it holds, in the words of the simulator's channels.
        let channel: String
        var payloads: Int
    }

    private let folder: String
    private let isOneFileEach: Bool
    private var handles: [Delivery.Channel: FileHandle] = [:]
    private var counts: [Delivery.Channel: Int] = [:]
    private var logs: LogFolderWriter?
    private(set) var payloads = 0

    init(folder: String, isOneFileEach: Bool, asLogs: Bool = false) throws {
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true
        )
        self.folder = folder
        self.isOneFileEach = isOneFileEach
        logs = asLogs ? LogFolderWriter(folder: folder) : nil
    }

    /// Where the payloads lie, in the order of the names; none with a file each but the receipts.
    var places: [Place] {
        counts.map { channel, count in
            Place(path: name(of: channel), channel: channel.rawValue, payloads: count)
        }.sorted { $0.channel < $1.channel }
    }

    func write(root: [UInt8]) throws {
        try Data(root).write(to: URL(fileURLWithPath: "\(folder)/root.der"))
    }

    func write(catalog: [UInt8]) throws {
        try Data(catalog).write(to: URL(fileURLWithPath: "\(folder)/catalog.storekit"))
    }

    mutating func write(_ delivery: Delivery, of life: SubscriptionLife, number: Int) throws {
        payloads += 1
        counts[delivery.channel, default: 0] += 1
        if logs != nil {
            try logs?.write(delivery)
        } else if delivery.channel == .appReceipt {
            try writeReceipt(delivery, of: life, number: number)
        } else if isOneFileEach {
            let number = String(String(payloads + 1_000_000_000).dropFirst())
            let path = "\(folder)/\(number)-\(delivery.channel.rawValue).json"
            try Data(delivery.payload).write(to: URL(fileURLWithPath: path))
        } else {
            try line(for: delivery.channel).write(
                contentsOf: Data(delivery.payload + [UInt8(ascii: "\n")])
            )
        }
    }

    mutating func finish() throws {
        try logs?.finish()
        for handle in handles.values { try handle.close() }
    }

    /// A new, empty file; what was there is gone.
    static func create(_ path: String) throws -> FileHandle {
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let handle = FileHandle(forWritingAtPath: path)
        else { throw Failure(Exit.permission, "\(path) cannot be written") }
        return handle
    }

    private func name(of channel: Delivery.Channel) -> String {
        if channel == .appReceipt || logs != nil { return channel.rawValue + "/" }
        return isOneFileEach ? "*-\(channel.rawValue).json" : "\(channel.rawValue).ndjson"
    }

    private mutating func line(for channel: Delivery.Channel) throws -> FileHandle {
        if let open = handles[channel] { return open }
        let handle = try SimulationWriter.create("\(folder)/\(name(of: channel))")
        handles[channel] = handle
        return handle
    }

    private func writeReceipt(
        _ delivery: Delivery,
        of life: SubscriptionLife,
        number: Int
    ) throws {
        let receipts = "\(folder)/\(delivery.channel.rawValue)"
        try FileManager.default.createDirectory(
            atPath: receipts,
            withIntermediateDirectories: true
        )
        let digits = String(String(number + 10_000).dropFirst())
        let path = "\(receipts)/\(life.originalTransactionId)-\(digits).der"
        try Data(delivery.payload).write(to: URL(fileURLWithPath: path))
    }
}
