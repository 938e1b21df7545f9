#include "valgrind/slots.h"

namespace plumb::vg {

Slots slots;

Slots::Chunk* Slots::far_chunk(Addr word) const {
  for (UInt i = 0; i < chunks_.count; ++i) {
    if (chunks_.items[i]->begin == word - word % kChunkBytes) return chunks_.items[i];
  }
  return nullptr;
}

// Fresh pages are zero, and those that are not touched take no memory.
Slots::Chunk* Slots::make_chunk(Addr word) {
  if (direct_ == nullptr) {
    direct_ = static_cast<Chunk**>(VG_(am_shadow_alloc)(kDirect / kChunkBytes * sizeof(Chunk*)));
    tl_assert(direct_ != nullptr);
  }
  Chunk* chunk = static_cast<Chunk*>(VG_(am_shadow_alloc)(sizeof(Chunk)));
  tl_assert(chunk != nullptr);
  chunk->begin = word - word % kChunkBytes;
  chunks_.push(chunk);
  if (word < kDirect) direct_[word / kChunkBytes] = chunk;
  return chunk;
}

Slot* Slots::add(Addr word, BlockId id, SlotKind kind) {
  Chunk* chunk = chunk_of(word);
  if (chunk == nullptr) chunk = make_chunk(word);
  Slot* slot = &chunk->slots[word % kChunkBytes / sizeof(Addr)];
  *slot = {id, block(id).generation & 0xfffffff, kind, 0};
  ++chunk->used;
  ++count_;
  return slot;
}

}  // namespace plumb::vg
