#include "tests/analysis/nest/access_signature.h"

#include <algorithm>

namespace kernelskill::analysis::testing {

namespace {

/// `expression` with `symbol` replaced.
IndexExpression substituted(const IndexExpression& expression, Symbol symbol,
                            const IndexExpression& value) {
    IndexExpression result;
    for (const auto& [monomial, coefficient] : expression.terms()) {
        IndexExpression term = IndexExpression::constant(coefficient);
        for (const Symbol factor : monomial)
            term = term * (factor == symbol ? value : IndexExpression::symbol(factor));
        result = result + term;
    }
    return result;
}

IndexExpression takenApart(Nest& nest, IndexExpression index) {
    bool changed = true;
    while (changed) {
        changed = false;
        const std::size_t count = nest.symbols.all().size();
        for (std::uint32_t id = 0; id < count; ++id) {
            const NestSymbol quotient = nest.symbols.all()[id];
            if (quotient.op != "/" || quotient.operands[0].terms().size() != 1)
                continue;
            const auto& [monomial, coefficient] = *quotient.operands[0].terms().begin();
            if (monomial.size() != 1 || coefficient != 1 || !index.dependsOn(monomial.front()))
                continue;
            const bool hasRemainder =
                std::ranges::any_of(nest.symbols.all(), [&](const NestSymbol& other) {
                    return other.op == "%" && other.operands == quotient.operands;
                });
            if (!hasRemainder)
                continue;
            const Symbol rest = nest.symbols.derived("%", quotient.operands);
            index = substituted(index, monomial.front(),
                                IndexExpression::symbol({SymbolKind::Named, id}) *
                                        quotient.operands[1] +
                                    IndexExpression::symbol(rest));
            changed = true;
        }
    }
    return index;
}

SignatureEntry renamed(const SignatureEntry& entry,
                       const std::map<std::string, std::string>& names) {
    SignatureEntry result = entry;
    NamedPolynomial& polynomial = std::get<NamedPolynomial>(result);
    polynomial.clear();
    for (const auto& [factors, coefficient] : std::get<NamedPolynomial>(entry)) {
        std::vector<std::string> changed;
        for (const std::string& factor : factors) {
            const auto name = names.find(factor);
            changed.push_back(name == names.end() ? factor : name->second);
        }
        std::ranges::sort(changed);
        polynomial[changed] += coefficient;
    }
    return result;
}

} // namespace

AccessSignature signatureOf(Nest nest) {
    AccessSignature signature;
    std::set<std::string> varying;
    for (std::size_t i = 0; i < nest.accesses.size(); ++i) {
        const NestAccess access = nest.accesses[i];
        if (access.node == noId)
            continue;
        if (access.array == noId || !access.index) {
            signature.entries.insert({"?", "", "", {}});
            continue;
        }
        const NestArray& array = nest.arrays[access.array];
        if (array.space != MemorySpace::Global)
            continue;
        NamedPolynomial polynomial;
        for (const auto& [monomial, coefficient] : takenApart(nest, *access.index).terms()) {
            std::vector<std::string> factors;
            for (const Symbol symbol : monomial) {
                factors.push_back(nest.symbols.nameOf(symbol));
                if (!nest.symbols.isLaunchConstant(symbol))
                    varying.insert(factors.back());
            }
            std::ranges::sort(factors);
            polynomial[factors] = coefficient;
        }
        const bool isAtomic = access.kind == AccessKind::Atomic;
        const auto add = [&](const char* kind) {
            signature.entries.insert({array.name, kind, access.field, polynomial});
        };
        if (isAtomic)
            add("atomic");
        if (!isAtomic && access.kind != AccessKind::Write)
            add("read");
        if (!isAtomic && access.kind != AccessKind::Read)
            add("write");
    }
    signature.varying.assign(varying.begin(), varying.end());
    return signature;
}

bool areSame(const AccessSignature& a, const AccessSignature& b) {
    if (a.varying.size() != b.varying.size() || a.entries.size() != b.entries.size())
        return false;
    std::vector<std::string> order = b.varying;
    std::ranges::sort(order);
    do {
        std::map<std::string, std::string> names;
        for (std::size_t i = 0; i < order.size(); ++i)
            names[a.varying[i]] = order[i];
        const bool fits = std::ranges::all_of(a.entries, [&](const SignatureEntry& entry) {
            return b.entries.contains(renamed(entry, names));
        });
        if (fits)
            return true;
    } while (std::ranges::next_permutation(order).found);
    return false;
}

std::string signatureText(const AccessSignature& signature) {
    std::string text;
    for (const auto& [array, kind, field, polynomial] : signature.entries) {
        text += kind + " " + array + field + ":";
        for (const auto& [factors, coefficient] : polynomial) {
            text += " " + std::to_string(coefficient);
            for (const std::string& factor : factors)
                text += "*" + factor;
        }
        text += "\n";
    }
    return text;
}

} // namespace kernelskill::analysis::testing
