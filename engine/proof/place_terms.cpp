#include "engine/proof/terms.h"

#include <algorithm>

namespace kernelskill::engine {

void TermTable::placeThreads(Term number) {
    constexpr Wide most = (Wide{1} << 31) - 1;
    block_ = symbol("blockIdx.x", {0, most});
    size_ = symbol("blockDim.x", {1, 1024});
    thread_ = symbol("threadIdx.x", {0, 1023});
    number_ = number;
}

void TermTable::placeThreadsAt(Term number, IntegerRange range, const std::function<void()>& work) {
    const auto before = number_;
    // Bounds that are found under this range do not hold elsewhere.
    const auto bounds = bounds_;
    number_ = number;
    bounds_[number] = range;
    isPlaced_ = true;
    work();
    isPlaced_ = false;
    bounds_ = bounds;
    number_ = before;
}

void TermTable::placeNumber(Polynomial& polynomial) const {
    Polynomial placed;
    for (auto part = polynomial.begin(); part != polynomial.end();) {
        const auto& [atoms, factor] = *part;
        const auto block = std::ranges::find(atoms, block_);
        const auto size = std::ranges::find(atoms, size_);
        if (block == atoms.end() || size == atoms.end()) {
            ++part;
            continue;
        }
        std::vector<Term> rest = atoms;
        rest.erase(std::ranges::find(rest, block_));
        rest.erase(std::ranges::find(rest, size_));
        std::vector<Term> inBlock = rest;
        inBlock.push_back(thread_);
        std::ranges::sort(inBlock);
        const auto other = polynomial.find(inBlock);
        const auto moved = other != polynomial.end() && other->second == factor
                               ? product(polynomialOf(*number_), {{rest, factor}})
                               : std::nullopt;
        if (!moved) {
            ++part;
            continue;
        }
        polynomial.erase(other);
        part = polynomial.erase(part);
        for (const auto& [atomsOfNumber, factorOfNumber] : *moved)
            placed[atomsOfNumber] += factorOfNumber;
    }
    for (const auto& [atoms, factor] : placed)
        polynomial[atoms] += factor;
}

} // namespace kernelskill::engine
