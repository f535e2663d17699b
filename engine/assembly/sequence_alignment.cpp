#include "engine/assembly/sequence_alignment.h"

#include <algorithm>
#include <cstddef>

namespace kernelskill::engine {
namespace {

using Sequence = std::span<const std::uint32_t>;

constexpr std::uint64_t maxSteps = 1'000'000'000;

/// Hirschberg's algorithm: splits `before` in the middle, and `after` where the two halves have
/// most in common.
class Aligner {
public:
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;

    void align(Sequence before, Sequence after, std::uint32_t beforeAt, std::uint32_t afterAt) {
        std::size_t head = 0;
        while (head < before.size() && head < after.size() && before[head] == after[head]) {
            add(beforeAt + head, afterAt + head);
            ++head;
        }
        before = before.subspan(head);
        after = after.subspan(head);
        beforeAt += static_cast<std::uint32_t>(head);
        afterAt += static_cast<std::uint32_t>(head);
        std::size_t tail = 0;
        while (tail < before.size() && tail < after.size() &&
               before[before.size() - 1 - tail] == after[after.size() - 1 - tail])
            ++tail;
        const auto rows = before.size() - tail;
        const auto columns = after.size() - tail;
        middle(before.first(rows), after.first(columns), beforeAt, afterAt);
        for (std::size_t i = 0; i < tail; ++i)
            add(beforeAt + rows + i, afterAt + columns + i);
    }

private:
    void add(std::size_t before, std::size_t after) {
        pairs.emplace_back(static_cast<std::uint32_t>(before), static_cast<std::uint32_t>(after));
    }

    void middle(Sequence before, Sequence after, std::uint32_t beforeAt, std::uint32_t afterAt) {
        if (before.empty() || after.empty() ||
            static_cast<std::uint64_t>(before.size()) * after.size() > maxSteps)
            return;
        if (before.size() == 1) {
            const auto found = std::ranges::find(after, before.front());
            if (found != after.end())
                add(beforeAt, afterAt + static_cast<std::size_t>(found - after.begin()));
            return;
        }
        const auto half = before.size() / 2;
        const auto upper = commonLengths(before.first(half), after, false);
        const auto lower = commonLengths(before.subspan(half), after, true);
        std::size_t split = 0;
        for (std::size_t i = 0; i <= after.size(); ++i) {
            if (upper[i] + lower[after.size() - i] > upper[split] + lower[after.size() - split])
                split = i;
        }
        align(before.first(half), after.first(split), beforeAt, afterAt);
        align(before.subspan(half), after.subspan(split),
              beforeAt + static_cast<std::uint32_t>(half),
              afterAt + static_cast<std::uint32_t>(split));
    }

    /// The common lengths of all of `before` with each beginning of `after`; with each end if
    /// `reversed`.
    static std::vector<std::uint32_t> commonLengths(Sequence before, Sequence after,
                                                    bool reversed) {
        const auto at = [reversed](Sequence sequence, std::size_t index) {
            return reversed ? sequence[sequence.size() - 1 - index] : sequence[index];
        };
        std::vector<std::uint32_t> row(after.size() + 1);
        for (std::size_t i = 0; i < before.size(); ++i) {
            std::uint32_t diagonal = 0;
            const auto element = at(before, i);
            for (std::size_t j = 0; j < after.size(); ++j) {
                const auto above = row[j + 1];
                row[j + 1] = element == at(after, j) ? diagonal + 1 : std::max(above, row[j]);
                diagonal = above;
            }
        }
        return row;
    }
};

} // namespace

std::vector<std::pair<std::uint32_t, std::uint32_t>>
commonElements(std::span<const std::uint32_t> before, std::span<const std::uint32_t> after) {
    Aligner aligner;
    aligner.align(before, after, 0, 0);
    return std::move(aligner.pairs);
}

} // namespace kernelskill::engine
