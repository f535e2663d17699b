/// Runs that are asked for again and again, such as those of the original in the reviews of its
/// edits, kept in memory.
#pragma once

#include "engine/execution/emulator/wire/wire.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

namespace kernelskill::engine::emulator {

struct KeptRun {
    WorkerReport report;
    std::chrono::milliseconds took{0}; ///< When it was run.
};

/// Whether a run that was cut off is made again when it is asked for again. For an estimate, that
/// it takes long is the answer.
enum class CutOffRuns : std::uint8_t { Repeated, Kept };

/// Thread-safe.
class KeptRuns {
public:
    using Run = std::function<Result<WorkerReport>()>;

    /// Keeps reports of `maxBytes` together, the latest used ones.
    explicit KeptRuns(std::uint64_t maxBytes) : maxBytes_(maxBytes) {}

    /// The run of that key if it is kept, else `run`, which has to end in the same way each time.
    /// A thread that asks while another one makes the same run waits for it. Runs that failed are
    /// not kept, those of `cutOffs` aside. Errors: those of `run`; Cancelled if `stop` is requested
    /// while it waits.
    [[nodiscard]] Result<std::shared_ptr<const KeptRun>>
    of(const std::string& key, const Run& run, const std::stop_token& stop,
       CutOffRuns cutOffs = CutOffRuns::Repeated);

private:
    struct Entry {
        std::shared_ptr<const KeptRun> run; ///< Null while a thread makes it.
        std::uint64_t bytes = 0;
        std::list<std::string>::iterator place = {}; ///< In order_; only if it was made.
    };
    void keep(const std::string& key, std::shared_ptr<const KeptRun> run);

    std::uint64_t maxBytes_;
    std::mutex mutex_; ///< Guards all members below.
    std::condition_variable_any changed_;
    std::map<std::string, Entry> entries_;
    std::list<std::string> order_; ///< Keys, the latest used one last.
    std::uint64_t bytes_ = 0;
};

} // namespace kernelskill::engine::emulator
