#include "engine/proof/integer_solver.h"

#include "engine/proof/known_operations.h"
#include "engine/proof/solver_encoding.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <stop_token>
#include <string_view>
#include <utility>

namespace kernelskill::engine {

struct IntegerSolver::Context {
    z3::context z3;
};

namespace {

/// A step on Z3's integers may take so many times as long as a step on bits.
constexpr unsigned stepsOfNumbers = 50;
/// The max time of a question in milliseconds, for single steps in which Z3 does not return. It
/// does not change answers that come earlier.
constexpr unsigned longestStep = 2'000;

/// Asks whether the conditions can hold at once, in the given encoding.
z3::check_result asked(z3::solver solver, SolverEncoding& encoding, const std::vector<Term>& truths,
                       unsigned steps) {
    z3::context& context = solver.ctx();
    z3::params parameters(context);
    parameters.set("rlimit", steps);
    parameters.set("timeout", longestStep);
    solver.set(parameters);
    for (const Term truth : truths)
        solver.add(encoding.truth(truth));
    for (const z3::expr& fact : encoding.facts())
        solver.add(fact);
    return solver.check();
}

/// The solver turns bit vectors into truth values first, which is faster than Z3's default.
z3::solver solverOfBits(z3::context& context) {
    const z3::tactic tactic = z3::tactic(context, "simplify") &
                              z3::tactic(context, "propagate-values") &
                              z3::tactic(context, "solve-eqs") & z3::tactic(context, "simplify") &
                              z3::tactic(context, "bit-blast") & z3::tactic(context, "sat");
    return tactic.mk_solver();
}

/// Runs `work` and returns Z3's exceptions as errors.
template <typename Work>
auto guarded(const Work& work) -> std::expected<decltype(work()), std::string> {
    try {
        return work();
    } catch (const z3::exception& exception) {
        return std::unexpected(fmt::format("Z3 failed: {}", exception.msg()));
    }
}

/// Whether the terms contain a function that the encoding by integers leaves open.
bool computesBits(const TermTable& terms, const std::vector<Term>& truths) {
    std::set<Term> seen;
    std::vector<Term> waiting = truths;
    while (!waiting.empty()) {
        const Term term = waiting.back();
        waiting.pop_back();
        if (!seen.insert(term).second)
            continue;
        const KnownOperation operation = operationOf(terms.functionOf(term));
        const bool isOfBits = operation.bits > 0 && operation.function != KnownFunction::Wrap;
        const bool isRemainder = operation.function == KnownFunction::Remainder &&
                                 !terms.constant(terms.arguments(term)[1]);
        if (isOfBits || isRemainder)
            return true;
        waiting.insert(waiting.end(), terms.arguments(term).begin(), terms.arguments(term).end());
        if (terms.functionOf(term).empty())
            for (const TermTable::Monomial& part : terms.monomials(term))
                waiting.insert(waiting.end(), part.atoms.begin(), part.atoms.end());
    }
    return false;
}

constexpr const char* noAnswer = "Z3 found no answer within the allowed steps";

} // namespace

IntegerSolver::IntegerSolver(unsigned steps) : steps_(steps) {}
IntegerSolver::IntegerSolver(std::stop_token stop) : steps_(defaultSteps), stop_(std::move(stop)) {}
IntegerSolver::~IntegerSolver() = default;

IntegerSolver::Context& IntegerSolver::context() {
    if (!context_)
        context_ = std::make_unique<Context>();
    return *context_;
}

std::expected<IntegerSolver::Answer, std::string>
IntegerSolver::ask(TermTable& terms, const std::vector<Term>& truths) {
    const auto result = guarded([&] {
        z3::context& z3 = context().z3;
        // Z3 may be interrupted from any thread.
        const std::stop_callback interrupt(stop_, [&z3] { z3.interrupt(); });
        if (stop_.stop_requested())
            return z3::unknown;
        NumberEncoding numbers(z3, terms);
        const z3::check_result first = asked(z3::solver(z3, z3::solver::simple()), numbers, truths,
                                             std::max(steps_ / stepsOfNumbers, 1U));
        if (first == z3::unsat || stop_.stop_requested() || !computesBits(terms, truths) ||
            ++bitQuestions_ > maxBitQuestions)
            return first;
        BitEncoding bits(z3, terms);
        const z3::check_result second = asked(solverOfBits(z3), bits, truths, steps_);
        return second == z3::unknown ? first : second;
    });
    if (!result)
        return std::unexpected(result.error());
    if (*result == z3::unknown)
        return std::unexpected(noAnswer);
    return *result == z3::unsat ? Answer::Never : Answer::Possible;
}

bool needsSolver(const TermTable& terms, const std::vector<Term>& truths) {
    std::set<Term> seen;
    std::vector<Term> waiting = truths;
    std::set<std::vector<Term>> products;
    const auto sharesFactor = [&](const std::vector<Term>& atoms) {
        return std::ranges::any_of(products, [&](const std::vector<Term>& other) {
            std::vector<Term> common;
            std::ranges::set_intersection(atoms, other, std::back_inserter(common));
            return other != atoms && !common.empty();
        });
    };
    while (!waiting.empty()) {
        const Term term = waiting.back();
        waiting.pop_back();
        if (!seen.insert(term).second)
            continue;
        const std::string& function = terms.functionOf(term);
        const std::vector<Term>& arguments = terms.arguments(term);
        switch (operationOf(function).function) {
        case KnownFunction::Quotient:
        case KnownFunction::Remainder:
            if (!terms.constant(arguments[1]))
                return true;
            break;
        case KnownFunction::None:
        case KnownFunction::Choice:
        case KnownFunction::NumberOfTruth:
            break;
        default:
            return true;
        }
        waiting.insert(waiting.end(), arguments.begin(), arguments.end());
        if (!function.empty())
            continue;
        for (const TermTable::Monomial& part : terms.monomials(term)) {
            waiting.insert(waiting.end(), part.atoms.begin(), part.atoms.end());
            if (part.atoms.size() < 2)
                continue;
            if (sharesFactor(part.atoms))
                return true;
            products.insert(part.atoms);
        }
    }
    return false;
}

} // namespace kernelskill::engine
