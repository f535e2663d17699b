#include "engine/proof/solver_encoding.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>

namespace kernelskill::engine {

std::optional<SharedFactor> sharedFactor(const std::vector<Term>& one,
                                         const std::vector<Term>& other) {
    if (one.size() != other.size() || one == other)
        return std::nullopt;
    SharedFactor found{};
    std::ranges::set_intersection(one, other, std::back_inserter(found.common));
    if (found.common.size() + 1 != one.size())
        return std::nullopt;
    const auto own = [&](const std::vector<Term>& atoms) {
        std::vector<Term> rest;
        std::ranges::set_difference(atoms, found.common, std::back_inserter(rest));
        return rest.front();
    };
    found.left = own(one);
    found.right = own(other);
    return found;
}

std::string SolverEncoding::fresh(std::string_view what) {
    return fmt::format("{}#{}", what, fresh_++);
}

z3::expr SolverEncoding::freeTruth(Term truth) {
    const z3::expr free = context_.bool_const(fmt::format("truth{}", truth).c_str());
    return free;
}

z3::expr SolverEncoding::truth(Term truth) {
    if (const auto known = truths_.find(truth); known != truths_.end())
        return known->second;
    const std::string function = terms_.functionOf(truth);
    const std::vector<Term> arguments = terms_.arguments(truth);
    const auto made = [&]() -> z3::expr {
        if (function == "true" || function == "false")
            return context_.bool_val(function == "true");
        if (function == "negative" || function == "zero") {
            const auto known = function == "zero" ? isZero(arguments[0]) : isNegative(arguments[0]);
            return known ? *known : freeTruth(truth);
        }
        if (function == "not")
            return !this->truth(arguments[0]);
        if (function == "and") {
            z3::expr_vector all(context_);
            for (const Term literal : arguments)
                all.push_back(this->truth(literal));
            return z3::mk_and(all);
        }
        if (function == "choice")
            return z3::ite(this->truth(arguments[0]), this->truth(arguments[1]),
                           this->truth(arguments[2]));
        return freeTruth(truth);
    };
    const z3::expr formula = made();
    truths_.emplace(truth, formula);
    return formula;
}

} // namespace kernelskill::engine
