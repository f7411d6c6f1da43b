# saxpy
.global table 16 8 = u32 1, 2, 3, 0xffffffff
.const  pi 8 = f64 3.14159
.global ptrs 24 8 = u64 5, addr table+4, addr helper
.shared tile 64 16
.bank f64 0.1, 2.5
.kernel saxpy
.param ptr.global x
.param ptr.global y
.param f32 a
.param u32 n
.shared mine 4
    v_s2r v0, %ctaid.x
    v_s2r v1, %ntid.x
    v_s2r v2, %tid.x
    v_mad_u32 v0, v0, v1, v2
    v_setp_u32.ge p0, v0, c[n]
    @p0 exit
    v_mulwide_u32 v4:5, v0, 4
    v_add_u64 v6:7, v4:5, c[x]
    v_add_u64 v4:5, v4:5, c[y]
    ld.global.b32 v1, [v6:7]
    ld.global.b32 v2, [v4:5+0] {st=2,y,wr=1}
loop: v_fma_f32 v1, v1, c[a], v2
    v_fma_f32 v1, v1, v2, -1.5
    v_fma_f32 v1, -v1, |s2|, v3
    v_mov_b32 v9, mine+4
    ld.shared.b32 v9, [tile+v9+8]
    v_mov_b32 v10, lo(table+8)
    v_mov_b32 v11, hi(table+8)
    bssy b0, done
    @!p1 bra loop, b0
done: bsync.soft b0
    call v12:13, helper
    st.global.b32 [v4:5], v1
    exit
.end
.func helper
    ret v12:13
.end
