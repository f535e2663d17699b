/// The grid of a launch, as it is written.
#pragma once

#include "analysis/syntax/syntax.h"
#include "engine/execution/kernel_ref.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// Keeps both references.
class LaunchText {
public:
    LaunchText(KernelRef kernel, const analysis::LaunchSite& site)
        : kernel_(kernel), site_(site), body_(kernel.file().hostFunctions.at(site.host).body) {}

    /// Threads of a block along x; nullopt unless the block is one-dimensional and constant.
    [[nodiscard]] std::optional<std::int64_t> block() const;
    /// Blocks along x; noId unless the grid is one-dimensional.
    [[nodiscard]] analysis::ExprId blocks() const;

    /// A number of elements, as a text or as a constant, for each of which there is a thread.
    struct Covered {
        std::string text;
        std::optional<std::int64_t> constant;
    };
    /// If each thread does `width` elements.
    [[nodiscard]] std::vector<Covered> covered(std::int64_t width = 1) const;
    /// Whether the threads, each of which does `width` elements, do at least as many as those of
    /// `other`, by which the grid is written: `(G + 3) / 4` for `G`.
    [[nodiscard]] bool reaches(const LaunchText& other, std::int64_t width) const;

    [[nodiscard]] std::string argument(std::size_t index) const;
    [[nodiscard]] std::optional<std::int64_t> argumentValue(std::size_t index) const;
    /// Shared bytes and stream.
    [[nodiscard]] std::string rest() const;
    /// The factors of the product of blocks and threads, constants multiplied.
    [[nodiscard]] std::pair<std::string, std::int64_t> total() const;

private:
    using ExprId = analysis::ExprId;
    [[nodiscard]] std::vector<Covered> covered(ExprId grid, std::int64_t block) const;
    [[nodiscard]] std::vector<Covered> elementsOf(ExprId counted) const;
    [[nodiscard]] std::pair<std::string, std::int64_t> total(ExprId grid, std::int64_t block) const;
    [[nodiscard]] ExprId bare(ExprId id) const;
    [[nodiscard]] std::optional<std::int64_t> number(ExprId id) const;
    [[nodiscard]] std::string text(ExprId id) const;
    [[nodiscard]] std::string slice(analysis::Span span) const;

    KernelRef kernel_;
    const analysis::LaunchSite& site_;
    const analysis::FunctionBody& body_;
};

} // namespace kernelskill::engine
