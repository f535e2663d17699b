/// Writes zip archives for tests: sound ones, and ones that lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::engine::graph::testing {

struct WrittenEntry {
    std::string name;
    std::string data;
    bool isDeflated = false;
    /// They are written in the place of the true ones.
    std::optional<std::uint32_t> claimedBytes = {};
    std::optional<std::uint32_t> claimedChecksum = {};
    std::uint16_t flags = 0;
    std::uint16_t method = isDeflated ? 8 : 0;
};

/// The bytes of an archive with these entries.
[[nodiscard]] std::string writtenArchive(const std::vector<WrittenEntry>& entries);

struct WrittenTensor {
    std::string name;
    std::vector<std::uint16_t> sizes;
    std::string bytes; ///< Elements of float32.
};

/// A file as torch.save writes it of a dictionary of contiguous tensors of float32.
[[nodiscard]] std::string writtenTensors(const std::vector<WrittenTensor>& tensors);

/// The bytes of numbers.
[[nodiscard]] std::string bytesOf(const std::vector<float>& values);

/// A file of tests/engine/graph/programs.
[[nodiscard]] std::string programPath(std::string_view name);
[[nodiscard]] std::string readWhole(const std::string& path);

/// models/model.json of an archive of tests/engine/graph/programs.
[[nodiscard]] std::string graphOf(std::string_view name);

} // namespace kernelskill::engine::graph::testing
