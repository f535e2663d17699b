/// Sets of integer points, by isl. Work is bounded: what takes too long is not known.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace kernelskill::analysis {

/// Owns isl's memory; sets must not outlive it. For one thread.
class Polyhedra {
public:
    Polyhedra();
    ~Polyhedra();
    Polyhedra(const Polyhedra&) = delete;
    Polyhedra& operator=(const Polyhedra&) = delete;

    /// Whether the set, in isl's notation, holds no point for any value of its parameters. nullopt:
    /// not found within the bound on work, or no set.
    [[nodiscard]] std::optional<bool> isEmpty(const std::string& set);
    /// The number of points of a bounded set without parameters. nullopt as above, or unbounded.
    [[nodiscard]] std::optional<std::int64_t> count(const std::string& set);

private:
    struct Context;
    std::unique_ptr<Context> context_;
};

} // namespace kernelskill::analysis
