/// Inputs that are made to break a simplification, and the comparison of what comes out.
#pragma once

#include "engine/graph/simplify/simplification.h"
#include "tests/analysis/raise/interpreter.h"
#include "tests/engine/graph/lowering/small_tasks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine::graph::testing {

/// Fills the elements of an input.
inline void challenge(std::vector<double>& elements, Challenge challenge, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> usual(-1, 1);
    for (std::size_t i = 0; i < elements.size(); ++i) {
        const double value = usual(random);
        const bool isOdd = i % 2 == 1;
        switch (challenge) {
        case Challenge::Usual:
        case Challenge::NotANumber:
        case Challenge::Infinite:
            elements[i] = value;
            break;
        case Challenge::Cancelling: // The sum of two neighbours is a thousandth of them.
            elements[i] = isOdd ? -elements[i - 1] + value : 1e6 * value;
            break;
        case Challenge::OneSign:
            elements[i] = std::abs(value);
            break;
        case Challenge::Tiny:
            elements[i] = value * 1e-30;
            break;
        case Challenge::Zeros:
            elements[i] = 0;
            break;
        case Challenge::Mixed:
            elements[i] = i % 3 == 0 ? 0 : i % 3 == 1 ? 1 : 1e4 * value;
            break;
        }
    }
    if (elements.empty())
        return;
    double& one = elements[random() % elements.size()];
    if (challenge == Challenge::NotANumber)
        one = std::numeric_limits<double>::quiet_NaN();
    if (challenge == Challenge::Infinite)
        one = std::numeric_limits<double>::infinity();
}

/// The obligation of all simplifications of a program together.
inline Obligation obligationOf(const SimplifiedProgram& program) {
    Obligation all{{Challenge::Usual, Challenge::Cancelling, Challenge::OneSign, Challenge::Tiny,
                    Challenge::Zeros, Challenge::Mixed, Challenge::NotANumber, Challenge::Infinite},
                   0,
                   true};
    for (const SimplificationKind& kind : simplificationKinds()) {
        if (std::ranges::find(program.simplifications, kind.name, &Simplification::name) ==
            program.simplifications.end())
            continue;
        const auto& own = kind.obligation;
        std::erase_if(all.challenges, [&](Challenge each) {
            return std::ranges::find(own.challenges, each) == own.challenges.end();
        });
        all.tolerance = std::max(all.tolerance, own.tolerance);
        all.keepsNotFinite = all.keepsNotFinite && own.keepsNotFinite;
    }
    return all;
}

/// Empty if the obligation holds for the task; else what differs.
inline std::string broken(const SmallTask& task, const SimplifiedProgram& simplified,
                          std::size_t maxElements) {
    namespace raise = analysis::raise;
    const Obligation obligation = obligationOf(simplified);
    const raise::InterpreterOptions options{.precision = raise::Precision::Double,
                                            .maxElements = maxElements};
    for (const Challenge each : obligation.challenges) {
        raise::Memory before = task.memory;
        for (std::size_t i = 0; i < before.size(); ++i)
            if (task.raised.program.buffers[i].role == raise::Buffer::Role::Input &&
                analysis::raise::isFloating(task.raised.program.buffers[i].element))
                challenge(before[i], each, static_cast<std::uint32_t>(i));
        raise::Memory after = before;
        if (const auto done = raise::interpret(task.raised.program, before, options); !done)
            return done.error();
        if (const auto done = raise::interpret(simplified.program, after, options); !done)
            return done.error();
        double largest = 0;
        for (const auto& elements : before)
            for (const double element : elements)
                if (std::isfinite(element))
                    largest = std::max(largest, std::abs(element));
        for (std::size_t i = 0; i < task.raised.program.buffers.size(); ++i) {
            if (task.raised.program.buffers[i].role != raise::Buffer::Role::Output)
                continue;
            for (std::size_t at = 0; at < before[i].size(); ++at) {
                const double one = before[i][at];
                const double other = after[i][at];
                const bool bothFinite = std::isfinite(one) && std::isfinite(other);
                const bool isNear =
                    bothFinite
                        ? std::abs(one - other) <= obligation.tolerance * largest
                        : !obligation.keepsNotFinite || std::isfinite(one) == std::isfinite(other);
                if (!isNear)
                    return "with challenge " + std::to_string(static_cast<int>(each)) +
                           ", element " + std::to_string(at) + " is " + std::to_string(other) +
                           ", not " + std::to_string(one);
            }
        }
    }
    return "";
}

} // namespace kernelskill::engine::graph::testing
