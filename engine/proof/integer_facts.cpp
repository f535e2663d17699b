#include "engine/proof/integer_facts.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace kernelskill::engine {

namespace {

constexpr std::size_t maxDimensions = 40;
/// The max number of alternatives; each doubles the work at worst.
constexpr std::size_t maxChoices = 24;
/// Most take the solver less than a millisecond.
constexpr int maxSolverQuestions = 60;

/// One set in isl's notation, of truth values that hold at once.
class PointText {
public:
    explicit PointText(TermTable& terms) : terms_(terms) {}

    void require(Term truth) { formulas_.push_back(formula(truth)); }

    /// nullopt if it is too large.
    [[nodiscard]] std::optional<std::string> text() const {
        if (names_.size() > maxDimensions || choices_ > maxChoices)
            return std::nullopt;
        std::string names;
        for (const auto& [atoms, name] : names_)
            names += (names.empty() ? "" : ",") + name;
        std::string all;
        for (const std::string& formula : formulas_)
            all += (all.empty() ? " : " : " and ") + formula;
        return fmt::format("{{ [{}]{} }}", names, all);
    }

private:
    std::string linear(Term term) {
        std::string sum;
        for (const TermTable::Monomial& part : terms_.monomials(term)) {
            sum += sum.empty() ? "" : " + ";
            sum += part.atoms.empty() ? spelled(part.factor)
                                      : spelled(part.factor) + "*" + dimension(part.atoms);
        }
        return sum.empty() ? "0" : sum;
    }

    /// The dimension of an atom, or of a product of atoms.
    std::string dimension(const std::vector<Term>& atoms) {
        if (const auto known = names_.find(atoms); known != names_.end())
            return known->second;
        const std::string name = fmt::format("d{}", names_.size());
        names_[atoms] = name;
        if (names_.size() > maxDimensions)
            return name;
        Term product = terms_.integer(1);
        for (const Term atom : atoms)
            product = terms_.multiply(product, atom);
        const IntegerRange range = terms_.range(product, {});
        const IntegerRange all = TermTable::unbounded();
        if (range.low > all.low)
            formulas_.push_back(fmt::format("{} <= {}", spelled(range.low), name));
        if (range.high < all.high)
            formulas_.push_back(fmt::format("{} <= {}", name, spelled(range.high)));
        if (atoms.size() == 1)
            define(atoms.front(), name);
        return name;
    }

    void define(Term atom, const std::string& name) {
        const std::string function = terms_.functionOf(atom);
        const std::vector<Term> arguments = terms_.arguments(atom);
        const bool isQuotient = function == "/";
        if (isQuotient || function == "%") {
            const auto divisor = terms_.constant(arguments[1]);
            if (!divisor || *divisor <= 0)
                return;
            const std::string of = linear(arguments[0]);
            const std::string by = spelled(*divisor);
            const std::string quotient = isQuotient ? name : fmt::format("q{}", names_.size());
            // A remainder has a quotient of its own.
            if (!isQuotient)
                names_[{atom, atom, atom}] = quotient;
            const std::string rest = fmt::format("({} - {}*{})", of, by, quotient);
            ++choices_;
            formulas_.push_back(
                fmt::format("(({0} >= 0 and 0 <= {1} and {1} < {2}) or ({0} < 0 and "
                            "{1} <= 0 and -{2} < {1}))",
                            of, rest, by));
            if (!isQuotient)
                formulas_.push_back(fmt::format("{} = {}", name, rest));
        } else if (function == "choice") {
            const std::string holds = formula(arguments[0]);
            const std::string fails = formula(terms_.negation(arguments[0]));
            const std::string chosen = linear(arguments[1]);
            const std::string other = linear(arguments[2]);
            ++choices_;
            formulas_.push_back(fmt::format("(({0} and {1} = {2}) or ({3} and {1} = {4}))", holds,
                                            name, chosen, fails, other));
        } else if (function == "number") {
            const std::string holds = formula(arguments[0]);
            const std::string fails = formula(terms_.negation(arguments[0]));
            ++choices_;
            formulas_.push_back(
                fmt::format("(({0} and {1} = 1) or ({2} and {1} = 0))", holds, name, fails));
        }
    }

    /// Whether it tests the rest of an address: nothing else is known of that.
    [[nodiscard]] bool testsAddress(Term truth) const {
        const std::vector<Term>* zero = terms_.argumentsOf(truth, "zero");
        return zero != nullptr && terms_.functionOf(zero->front()) == "%" &&
               terms_.range(terms_.arguments(zero->front())[0], {}).high >=
                   TermTable::unbounded().high;
    }

    std::string formula(Term truth) {
        const std::string function = testsAddress(truth) ? "" : terms_.functionOf(truth);
        const std::vector<Term> arguments = terms_.arguments(truth);
        if (function == "true")
            return "0 = 0";
        if (function == "false")
            return "0 = 1";
        if (function == "negative")
            return fmt::format("{} < 0", linear(arguments[0]));
        if (function == "zero")
            return fmt::format("{} = 0", linear(arguments[0]));
        if (function == "and") {
            std::string all;
            for (const Term literal : arguments)
                all += (all.empty() ? "" : " and ") + formula(literal);
            return "(" + all + ")";
        }
        if (function == "not") {
            const Term inner = arguments[0];
            if (const std::vector<Term>* zero = terms_.argumentsOf(inner, "zero");
                zero != nullptr && !testsAddress(inner)) {
                ++choices_;
                const std::string of = linear(zero->front());
                return fmt::format("({0} < 0 or {0} > 0)", of);
            }
            if (const std::vector<Term>* all = terms_.argumentsOf(inner, "and")) {
                ++choices_;
                std::string any;
                for (const Term literal : std::vector<Term>(*all))
                    any += (any.empty() ? "" : " or ") + formula(terms_.negation(literal));
                return "(" + any + ")";
            }
            return fmt::format("{} = 0", dimension({inner}));
        }
        return fmt::format("{} = 1", dimension({truth}));
    }

    TermTable& terms_;
    std::map<std::vector<Term>, std::string> names_;
    std::vector<std::string> formulas_;
    std::size_t choices_ = 0;
};

} // namespace

bool IntegerFacts::excludes(std::vector<Term> truths) {
    truths.insert(truths.end(), assumed_.begin(), assumed_.end());
    std::ranges::sort(truths);
    const auto repeated = std::ranges::unique(truths);
    truths.erase(repeated.begin(), repeated.end());
    if (const auto known = known_.find(truths); known != known_.end())
        return known->second;
    if (stop_.stop_requested() || ++questions_ > maxQuestions_)
        return false;
    PointText points(terms_);
    for (const Term truth : truths)
        points.require(truth);
    const auto text = points.text();
    const auto isEmpty = text ? polyhedra_.isEmpty(*text) : std::nullopt;
    const bool found = isEmpty.value_or(false) || solverExcludes(truths, !isEmpty);
    known_.emplace(std::move(truths), found);
    return found;
}

bool IntegerFacts::solverExcludes(const std::vector<Term>& truths, bool isOthersToo) {
    if (solver_ == nullptr || !(isOthersToo || needsSolver(terms_, truths)) ||
        ++solverQuestions_ > maxSolverQuestions)
        return false;
    const auto answer = solver_->ask(terms_, truths);
    return answer && *answer == IntegerSolver::Answer::Never;
}

bool IntegerFacts::implies(const Facts& facts, Term truth) {
    std::vector<Term> truths = facts;
    truths.push_back(terms_.negation(truth));
    return excludes(std::move(truths));
}

bool IntegerFacts::isLoose(Term term, const IntegerRange& range, const Facts& facts) {
    const auto speaksOf = [&](const std::vector<Term>& atoms) {
        const auto isIn = [&](Term fact) {
            return std::ranges::any_of(atoms,
                                       [&](Term atom) { return terms_.mentions(fact, atom); });
        };
        return std::ranges::any_of(facts, isIn) || std::ranges::any_of(assumed_, isIn);
    };
    const auto isDefined = [&](Term atom) {
        const std::string& function = terms_.functionOf(atom);
        return function == "/" || function == "%" || function == "choice" || function == "number";
    };
    return std::ranges::any_of(terms_.monomials(term), [&](const TermTable::Monomial& part) {
        if (part.atoms.empty() || (part.atoms.size() == 1 && isDefined(part.atoms.front())))
            return false;
        Term product = terms_.integer(part.factor);
        for (const Term atom : part.atoms)
            product = terms_.multiply(product, atom);
        const IntegerRange own = terms_.range(product, {});
        return own.high - own.low > range.high - range.low && !speaksOf(part.atoms);
    });
}

bool IntegerFacts::within(Term term, const IntegerRange& range, const Facts& facts) {
    if (terms_.range(term, facts).within(range))
        return true;
    if (isLoose(term, range, facts))
        return false;
    const Term below = terms_.isNegative(terms_.subtract(term, terms_.integer(range.low)), {});
    const Term above = terms_.isNegative(terms_.subtract(terms_.integer(range.high), term), {});
    std::vector<Term> low = facts;
    low.push_back(below);
    std::vector<Term> high = facts;
    high.push_back(above);
    return excludes(std::move(low)) && excludes(std::move(high));
}

} // namespace kernelskill::engine
