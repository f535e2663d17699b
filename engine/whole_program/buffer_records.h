/// The buffers on the GPU that a program's runs leave: recorded, and compared with the original's.
#pragma once

#include "engine/final_memory/memory_comparison.h"
#include "engine/program/workload.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// Returns the variables with which a run records its buffers into the folder.
using BufferRecording = std::function<Result<std::vector<std::pair<std::string, std::string>>>(
    const std::filesystem::path& folder)>;

class BufferRecords {
public:
    /// The run whose buffers are recorded. Another one of a kind replaces it.
    enum class Run : std::uint8_t { First, Further, Edited };

    /// Records nothing.
    BufferRecords() = default;
    /// Records into folders of `folder`, which is created.
    BufferRecords(std::filesystem::path folder, BufferRecording record)
        : folder_(std::move(folder)), record_(std::move(record)) {}

    [[nodiscard]] bool isRecording() const { return record_ != nullptr; }
    /// The workload as it is run to record its buffers; itself if none are recorded.
    [[nodiscard]] Workload recorded(const Workload& workload, Run run);
    /// Records nothing any more.
    void stop(std::string why);

    /// Reads the buffers of the original's first run and of a further one. Stops if that fails, or
    /// if nothing is left to compare.
    void compareOriginals();
    /// Reads those of one more run of the original: what is not the same is not compared any more.
    void addOriginal();
    /// Says how the edited program's buffers differ; nullopt if they do not, or none is compared.
    [[nodiscard]] std::optional<std::string> difference() const;

    /// The original's; nullopt if none is compared.
    [[nodiscard]] const std::optional<ComparedBuffers>& compared() const { return compared_; }
    /// Says what is not compared, and why; empty if all is, or nothing was to be.
    [[nodiscard]] const std::string& note() const { return note_; }

private:
    [[nodiscard]] std::filesystem::path folderOf(Run run) const;

    std::filesystem::path folder_;
    BufferRecording record_;
    std::optional<ComparedBuffers> compared_;
    std::string note_;
};

} // namespace kernelskill::engine
