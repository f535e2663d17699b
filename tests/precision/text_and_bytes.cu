// Bytes as text: counts, hashes, codes.
#include <cuda_runtime.h>
#include <stdint.h>

__global__ void letterCounts(const char* text, int* counts, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length) {
        char c = text[i];
        if (c >= 0 && c < 128)
            atomicAdd(&counts[(int)c], 1);
    }
}

__global__ void hashRecords(const unsigned char* records, uint64_t* hash, int count, int bytes) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= count)
        return;
    uint64_t h = 14695981039346656037ull;
    for (int b = 0; b < bytes; ++b) {
        h ^= records[r * bytes + b];
        h *= 1099511628211ull;
    }
    hash[r] = h;
}

__global__ void hexDigits(const uint8_t* bytes, char* text, size_t n) {
    const char* digits = "0123456789abcdef";
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
}

__constant__ uint32_t crcTable[256];

__global__ void crcOfPages(const uint8_t* data, uint32_t* crc, int pages, int pageBytes) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < pages) {
        uint32_t c = 0xffffffffu;
        for (int i = 0; i < pageBytes; ++i)
            c = crcTable[(c ^ data[p * pageBytes + i]) & 0xff] ^ (c >> 8);
        crc[p] = ~c;
    }
}

__global__ void findNeedle(const char* hay, int length, const char* needle, int needleLength, int* first) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + needleLength > length)
        return;
    bool same = true;
    for (int k = 0; k < needleLength && same; ++k)
        same = hay[i + k] == needle[k];
    if (same)
        atomicMin(first, i);
}

__global__ void lineStarts(const char* text, int* isStart, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length)
        isStart[i] = i == 0 || text[i - 1] == '\n';
}

__global__ void xorStream(uint32_t* words, const uint32_t* key, int n, int keyWords) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        words[i] ^= key[i % keyWords];
}

__global__ void byteSwap(uint32_t* words, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        uint32_t w = words[i];
        words[i] = (w >> 24) | ((w >> 8) & 0xff00u) | ((w << 8) & 0xff0000u) | (w << 24);
    }
}

void scan(const char* text, uint8_t* bytes, char* out, uint64_t* hash, uint32_t* words, int* counts) {
    uint32_t table[256];
    for (uint32_t byte = 0; byte < 256; ++byte) {
        uint32_t c = byte;
        for (int bit = 0; bit < 8; ++bit)
            c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
        table[byte] = c;
    }
    cudaMemcpyToSymbol(crcTable, table, sizeof table);
    letterCounts<<<40, 256>>>(text, counts, 10001);
    hashRecords<<<5, 64>>>(bytes, hash, 300, 24);
    hexDigits<<<20, 128>>>(bytes, out, 2500);
    crcOfPages<<<2, 64>>>(bytes, words, 100, 64);
    findNeedle<<<20, 256>>>(text, 5000, out, 3, counts);
    lineStarts<<<20, 256>>>(text, counts, 5000);
    xorStream<<<8, 128>>>(words, words + 100000, 5003, 16);
    byteSwap<<<20, 256>>>(words, 5003);
}
