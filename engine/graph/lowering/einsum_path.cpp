#include "engine/graph/lowering/einsum_path.h"

#include <algorithm>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

/// The letters of both, each once.
std::string joined(const std::string& left, const std::string& right) {
    std::string all = left;
    for (const char letter : right)
        if (!all.contains(letter))
            all += letter;
    return all;
}

class PathSearch {
public:
    PathSearch(const std::string& result, const std::map<char, double>& extents)
        : result_(result), extents_(extents) {}

    struct Path {
        double terms = 0; ///< The products that one call computes.
        std::vector<EinsumStep> steps;
    };

    Path best(const std::vector<EinsumOperand>& operands) const {
        Path best{atOnce(operands), {}};
        if (operands.size() <= 2)
            return best;
        for (std::size_t right = 1; right < operands.size(); ++right)
            for (std::size_t left = 0; left < right; ++left) {
                std::vector<EinsumOperand> others = operands;
                others.erase(others.begin() + static_cast<std::ptrdiff_t>(right));
                others.erase(others.begin() + static_cast<std::ptrdiff_t>(left));
                const std::vector<EinsumOperand> pair{operands[left], operands[right]};
                const std::string letters = keptLetters(pair, others);
                const double terms = atOnce(pair);
                others.push_back({letters, pair[0].isKnown && pair[1].isKnown});
                Path rest = this->best(others);
                if (terms + rest.terms >= best.terms)
                    continue;
                rest.steps.insert(rest.steps.begin(), {left, right, letters});
                best = {terms + rest.terms, std::move(rest.steps)};
            }
        return best;
    }

private:
    /// The terms of the product of all operands in one pass.
    double atOnce(const std::vector<EinsumOperand>& operands) const {
        if (std::ranges::all_of(operands, &EinsumOperand::isKnown))
            return 0;
        std::string all;
        for (const EinsumOperand& operand : operands)
            all = joined(all, operand.letters);
        double terms = 1;
        for (const char letter : all)
            terms *= extents_.at(letter);
        return terms;
    }

    /// The letters of a pair that the result or another operand has.
    std::string keptLetters(const std::vector<EinsumOperand>& pair,
                            const std::vector<EinsumOperand>& others) const {
        std::string kept;
        for (const char letter : joined(pair[0].letters, pair[1].letters))
            if (result_.contains(letter) ||
                std::ranges::any_of(others, [&](const EinsumOperand& other) {
                    return other.letters.contains(letter);
                }))
                kept += letter;
        return kept;
    }

    const std::string& result_;
    const std::map<char, double>& extents_;
};

} // namespace

std::vector<EinsumStep> einsumPath(const std::vector<EinsumOperand>& operands,
                                   const std::string& result,
                                   const std::map<char, double>& extents) {
    constexpr std::size_t most = 6; // All orders are tried.
    if (operands.size() > most)
        return {};
    const PathSearch search(result, extents);
    double atOnce = 1;
    for (const auto& [letter, extent] : extents)
        atOnce *= extent;
    PathSearch::Path path = search.best(operands);
    return 2 * path.terms <= atOnce ? std::move(path.steps) : std::vector<EinsumStep>();
}

} // namespace kernelskill::engine::graph
